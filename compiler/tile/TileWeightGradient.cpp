#include "compiler/tile/TileWeightGradient.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/WeightGradientTiles.h"
#include "compiler/tile/TileContraction.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// The sizes of a weight gradient in a typical run.
struct Run {
  double images, rows, places, in, out;
};

/// How sums are transformed.
struct Transform {
  int64_t outputs = 0, channels = 0;
};

} // namespace

static SmallVector<Run> getRuns(WeightGradientForm &form, const TypicalRuns &runs) {
  constexpr int64_t fewImages = 8;
  SmallVector<Run> found;
  for (auto [images, rows, places, in, out] :
       llvm::zip_equal(runs.evaluate(form.getSlices()), runs.evaluate(form.getRows()), runs.evaluate(form.getPlaces()),
                       runs.evaluate(form.getExtent(form.channel)), runs.evaluate(form.getExtent(form.column))))
    // Images that only a run knows are not many: what more would gain is less than what fewer would lose.
    found.push_back({double(std::min(images, fewImages)), double(rows), double(places), double(in), double(out)});
  return found;
}

/// Elements of the cache that a worker has for itself: half of them are sums, a quarter the transformed picture.
static int64_t getCacheElements(const DeviceDescription &device) { return device.getL2Bytes() / sizeof(float); }

static int64_t getNumValues(int64_t outputs) {
  int64_t points = WinogradTransforms::getNumPoints(outputs);
  return points * points;
}

/// Multiply-adds in the time of the sums, in blocks of `channels` by as many channels out as leave their sums in the
/// cache.
static double getTransformedCost(const Run &run, const Transform &transform, MicroKernelAttr kernel,
                                 int64_t cacheElements) {
  // Multiply-adds in the time in which a value of a channel of the picture, or of the output gradient, is copied and
  // transformed; in which a sum is read, added to and written; and in which it is cleared and transformed.
  constexpr double ofPicture = 16, ofGradient = 13, ofAddition = 7, ofSum = 48;
  double outputs = double(transform.outputs), values = double(getNumValues(transform.outputs));
  double squares = run.images * std::ceil(run.rows / outputs) * std::ceil(run.places / outputs);
  double channels = std::min(double(transform.channels), run.in), width = double(kernel.getWidth());
  double panels = std::max(1.0, std::floor(double(cacheElements) / 2 / (values * channels * width)));
  double atOnce = std::min(squares, std::max(1.0, double(cacheElements) / 4 / (values * channels)));
  // The micro-kernel computes whole blocks of rows, and whole panels.
  double in = std::max(run.in, double(kernel.getRows())), out = std::ceil(run.out / width) * width;
  return values * (squares * (in * out + ofPicture * run.in * std::ceil(out / width / panels) +
                              ofGradient * out * std::ceil(run.in / channels)) +
                   in * out * (ofAddition * std::ceil(squares / atOnce) + ofSum));
}

static double getDirectCost(const Run &run, MicroKernelAttr kernel) {
  constexpr double taps = WinogradTransforms::taps * WinogradTransforms::taps;
  double width = double(kernel.getWidth()), out = std::ceil(run.out / width) * width;
  return taps * run.images * run.rows * run.places * std::max(run.in, double(kernel.getRows()) / 3) * out;
}

/// The transform with the least time of all runs together; none where that of direct sums, so many multiply-adds in the
/// time of one of f32, is the least.
static Transform chooseTransform(ArrayRef<Run> runs, MicroKernelAttr kernel, int64_t cacheElements,
                                 double stepsAtOnce) {
  Transform best;
  double least = 0;
  for (const Run &run : runs)
    least += getDirectCost(run, kernel) / stepsAtOnce;
  for (int64_t outputs : {2, 4}) {
    // As many channels in as channels out.
    auto side = static_cast<uint64_t>(std::sqrt(double(cacheElements) / 2 / double(getNumValues(outputs))));
    Transform transform{outputs, std::max(kernel.getLanes(), static_cast<int64_t>(llvm::bit_floor(side)))};
    double sum = 0;
    for (const Run &run : runs)
      sum += getTransformedCost(run, transform, kernel, cacheElements);
    if (sum < least) {
      least = sum;
      best = transform;
    }
  }
  return best;
}

WeightGradientTilingAttr tile::tileWeightGradient(WeightGradientForm &form, const TypicalRuns &runs,
                                                  const DeviceDescription &device, GradientSwitches switches,
                                                  bool hasWords) {
  MLIRContext *context = form.compute.getContext();
  MicroKernelAttr kernel = getMicroKernel(device, form.elementType);
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  Type stored = getStorageType(form.compute.getInputType(form.picture).getElementType());
  // The panel of the output gradient stays in L1, the copied picture in L2.
  int64_t places = device.getL1Bytes() * 3 / 4 / (kernel.getWidth() * bytes), plane = device.getL2Bytes() / 4 / bytes;
  // The sums of several panels, which share the copied picture, take half of L2.
  int64_t sums = device.getL2Bytes() / 2 / bytes, leastTiles = std::clamp<int64_t>(2 * device.units, 4, 16);
  Transform chosen;
  if (switches.transform && form.hasDenseSquares())
    chosen = chooseTransform(getRuns(form, runs), kernel, getCacheElements(device),
                             hasWords ? device.getPairMultiplyAdds() / device.getMultiplyAdds(32) : 1);
  if (!chosen.outputs && (form.sumsWindow || hasWords))
    return {};
  int64_t transformed = chosen.outputs ? getCacheElements(device) / 4 : 0;
  // Of many channels, a part that is long enough to be worth reading and writing the sums.
  bool apart = switches.apart && form.isPointwise(WeightGradientTiles::mostApart);
  if (apart)
    plane *= 2;
  // Each tile transforms or copies its picture anew: no more tiles than there may be workers.
  if (chosen.outputs || apart)
    leastTiles = std::clamp<int64_t>(device.units, 1, 16);
  return WeightGradientTilingAttr::get(context, kernel, places, plane, sums, leastTiles, chosen.outputs,
                                       chosen.channels, transformed, apart,
                                       switches.bring ? device.getL2Bytes() * 8 / stored.getIntOrFloatBitWidth() : 0);
}
