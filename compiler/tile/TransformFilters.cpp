#include "compiler/tile/TransformFilters.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/IndexMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

bool tile::isTransformedFaster(ConvolutionForm form, const TypicalSizes &sizes, const TransformPrices &prices) {
  ContractionForm &contraction = form.contraction;
  if (prices.outputs == 0 || !contraction.elementType.isF32() || !form.hasDenseSquares())
    return false;
  // Groups have weights of their own.
  for (unsigned loop : contraction.outer)
    for (sym::Expr index : getIndices(contraction.compute, form.weights))
      if (llvm::is_contained(getLoops(index), loop))
        return false;
  std::optional<int64_t> in = contraction.getExtent(contraction.k.front()).asConstant();
  std::optional<int64_t> out = contraction.getExtent(contraction.m).asConstant();
  std::optional<int64_t> rows = sizes.evaluate(form.getRows()), pixels = sizes.evaluate(form.getPixels());
  std::optional<int64_t> images = sizes.evaluate(contraction.getExtent(contraction.outer), /*unknown=*/1);
  if (!in || !out || !rows || !pixels || !images || *in == 0 || *out == 0)
    return false;

  // Per pair of channels, in the time of a multiply-add of vectors. The transforms of a value, of the picture and of the
  // products, take some such steps each.
  constexpr double ofPicture = 11, ofProducts = 6;
  constexpr double bytes = 4, taps = WinogradTransforms::taps * WinogradTransforms::taps;
  double points = static_cast<double>(WinogradTransforms::getNumPoints(prices.outputs)), values = points * points;
  double squares = static_cast<double>(*images * llvm::divideCeil(*rows, prices.outputs) *
                                       llvm::divideCeil(*pixels, prices.outputs));
  double inChannels = static_cast<double>(*in), outChannels = static_cast<double>(*out);
  double direct = taps * static_cast<double>(*images * *rows * *pixels);
  double transformed = values * squares * (1 + ofPicture / outChannels + ofProducts / inChannels);
  if (values * bytes * inChannels * outChannels > static_cast<double>(prices.cacheBytes) / 2)
    transformed += (values - taps) * bytes * prices.stepsPerByte;
  return transformed < direct;
}
