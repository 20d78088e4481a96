#ifndef FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H
#define FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// What the price of a convolution with transformed filters depends on.
struct TransformPrices {
  /// Output channels of a panel.
  int64_t columns;
  /// Bytes of the cache that holds the weights of a tile, and multiply-adds in the time of a byte from beyond it.
  int64_t cacheBytes;
  double stepsPerByte;
  /// Rows and columns of the pixels that are computed at once; 0: filters are not transformed.
  int64_t outputs;
};

/// Whether the convolution takes less time with transformed filters (see WinogradTransforms), at typical sizes of its
/// pictures: the products are fewer, the weights more, and both pictures are transformed. A number of images that only a
/// run knows counts as one.
bool isTransformedFaster(ConvolutionForm form, const TypicalSizes &sizes, const TransformPrices &prices);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TRANSFORMFILTERS_H
