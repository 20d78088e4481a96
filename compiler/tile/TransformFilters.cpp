#include "compiler/tile/TransformFilters.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/DotProductLayout.h"
#include "compiler/plan/IndexMaps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// The sizes of a convolution.
struct Sizes {
  int64_t images, rows, pixels;
  double in, out;
};

} // namespace

/// Whether each group of channels has weights of its own.
static bool hasGroups(ConvolutionForm &form) {
  for (unsigned loop : form.contraction.outer)
    for (sym::Expr index : getIndices(form.contraction.compute, form.weights))
      if (llvm::is_contained(getLoops(index), loop))
        return true;
  return false;
}

/// The cost of bringing the weights, so many bytes of each filter, for each of some passes over them; none where a
/// worker's cache keeps them.
static double getFetching(const Sizes &sizes, double ofFilter, double passes, const TransformPrices &prices) {
  double bytes = ofFilter * sizes.in * sizes.out;
  return bytes > static_cast<double>(prices.cacheBytes) / 2 ? bytes * passes * prices.stepsPerByte : 0;
}

static double getCost(const Sizes &sizes, int64_t outputs, const TransformPrices &prices) {
  // Multiply-adds in the time in which a value of the picture, and one of the products, is transformed.
  constexpr double ofPicture = 11, ofProducts = 6;
  double points = static_cast<double>(WinogradTransforms::getNumPoints(outputs)), values = points * points;
  double squares = static_cast<double>(sizes.images * llvm::divideCeil(sizes.rows, outputs) *
                                       llvm::divideCeil(sizes.pixels, outputs));
  double inTile = static_cast<double>(prices.cacheBytes) / 2 / (values * sizes.in * sizeof(float));
  return values * squares * (sizes.in * sizes.out + ofPicture * sizes.in + ofProducts * sizes.out) +
         getFetching(sizes, values * sizeof(float), std::ceil(squares / std::max(1.0, inTile)), prices);
}

static double getDirectCost(const Sizes &sizes, const TransformPrices &prices) {
  constexpr double taps = WinogradTransforms::taps * WinogradTransforms::taps;
  int64_t pixels = sizes.rows * sizes.pixels;
  double bytes = sizeof(float), steps = 1;
  if (prices.stepsOfPairs > 0) {
    // Pixels of a picture are columns, in whole panels.
    pixels = static_cast<int64_t>(llvm::alignTo(pixels, DotProductLayout::unit));
    bytes /= 2;
    steps = prices.stepsOfPairs;
  }
  return taps * static_cast<double>(sizes.images * pixels) * sizes.in * sizes.out / steps +
         getFetching(sizes, taps * bytes, /*passes=*/1, prices);
}

int64_t tile::chooseTransform(ConvolutionForm form, const TypicalSizes &typical, const TransformPrices &prices) {
  ContractionForm &contraction = form.contraction;
  if (!contraction.elementType.isF32() || !form.hasDenseSquares() || hasGroups(form))
    return 0;
  std::optional<int64_t> in = form.getPlanes().asConstant();
  std::optional<int64_t> out = contraction.getExtent(contraction.m).asConstant();
  std::optional<int64_t> rows = typical.evaluate(form.getRows()), pixels = typical.evaluate(form.getPixels());
  std::optional<int64_t> images = typical.evaluate(contraction.getExtent(contraction.outer), /*unknown=*/1);
  if (!in || !out || !rows || !pixels || !images)
    return 0;
  Sizes sizes{*images, *rows, *pixels, static_cast<double>(*in), static_cast<double>(*out)};
  int64_t best = 0;
  double least = getDirectCost(sizes, prices);
  for (int64_t outputs : {2, 4})
    if (double cost = getCost(sizes, outputs, prices); cost < least) {
      least = cost;
      best = outputs;
    }
  return best;
}
