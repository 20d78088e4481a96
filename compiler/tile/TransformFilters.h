#ifndef FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H
#define FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// What the price of a convolution with transformed filters depends on.
struct TransformPrices {
  /// Bytes of the cache that a worker has for itself, half of which holds a tile's transformed picture.
  int64_t cacheBytes;
  /// Multiply-adds in the time of a byte of weights from beyond that cache.
  double stepsPerByte;
  /// Multiply-adds of dot products of pairs in the time of one of f32, where these are the other way; else 0.
  double stepsOfPairs = 0;
};

/// The outputs of the transform (see WinogradTransforms) with which the convolution takes least time at typical sizes
/// of its pictures; 0 where it takes least without. The larger the squares, the fewer the products, but the more the
/// values of a filter; both pictures are transformed. A number of images that only a run knows counts as one.
int64_t chooseTransform(ConvolutionForm form, const TypicalSizes &sizes, const TransformPrices &prices);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H
