#ifndef FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
#define FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H

#include "compiler/plan/WeightGradientForm.h"

namespace freestone::tile {

/// Of a weight gradient whose sums are transformed: the picture and the output gradient are transformed in squares of
/// positions (see WinogradTransforms), whose values are multiplied one by one and summed over all squares.
struct TransformedGradientTiles {
  /// The side of a square of positions; the values of one.
  int64_t outputs, values;
  /// Squares in a row, and the most that a block has.
  sym::Expr squaresInRow, squares;
  /// Elements between values of the transformed picture, which are [values][squares][channels], and all of them.
  sym::Expr pictureStride, picture;
  /// The same of a panel of the transformed output gradient, [values][squares][width].
  sym::Expr gradientStride, gradient;
};

/// The geometry of a tiled weight gradient. A tile has some panels of output channels for all taps and a block of input
/// channels, and sums over images (planes, of volumes) and row blocks in order. The copied picture has its channels
/// innermost, so that those of all taps of a row are the rows of one micro-kernel; or those of a value, where sums are
/// transformed. With a single tap channels may be apart, which transposes nothing.
struct WeightGradientTiles {
  /// Elements between channels of a copy that keeps its channels apart, and the most positions of one: rows are written
  /// in whole vectors, and lines of neighbouring channels lie in different sets of the caches.
  static constexpr int64_t channelPitch = 304, mostApart = 288;

  WeightGradientTilingAttr tiling;
  MicroKernelAttr kernel;
  /// Of input channels: one block of all, unless sums are transformed, or channels apart and more than those out.
  sym::Expr channelBlocks, channelStep;
  /// Of images, and of output positions.
  sym::Expr imageBlocks, imageStep;
  sym::Expr rowBlocks, rowStep;
  /// Of panels: their blocks, and the panels of a block.
  sym::Expr panelBlocks, panelStep;
  sym::Expr tiles;
  /// Elements between pixels of the copied picture, the width of its rows in pixels, and their number.
  sym::Expr pixelPitch, pitch, planeRows;
  /// Positions between rows of the packed output gradient.
  sym::Expr panelPitch;
  /// Elements between the sums of two rows of taps, or of two values, which have an even number of accumulators' rows.
  sym::Expr sumStep;
  /// Elements of scratch: the copied picture, offsets of its positions or squares (i64), a panel of the output
  /// gradient, sums of all panels, each of which has `panelSums`.
  sym::Expr planes, offsets, panel, panelSums, sums;
  std::optional<TransformedGradientTiles> transformed;

  static WeightGradientTiles get(WeightGradientForm &form, WeightGradientTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
