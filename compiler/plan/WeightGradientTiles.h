#ifndef FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
#define FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H

#include "compiler/plan/WeightGradientForm.h"

namespace freestone::tile {

/// The geometry of a tiled weight gradient. A tile has some panels of output channels for all taps and input channels,
/// and sums over images and row blocks in order. The copied picture has its channels innermost, so that those of all
/// taps of a row are the rows of one micro-kernel.
struct WeightGradientTiles {
  WeightGradientTilingAttr tiling;
  /// Of output positions.
  sym::Expr rowBlocks, rowStep;
  /// Of panels: their blocks, and the panels of a block.
  sym::Expr panelBlocks, panelStep;
  sym::Expr tiles;
  /// The width of a row of the copied picture, and its number of rows.
  sym::Expr pitch, planeRows;
  /// Rows of accumulators for the taps of a row, an even number.
  sym::Expr sumRows;
  /// Elements of scratch: the copied picture, offsets of its positions (i64), a panel of the output gradient, sums of
  /// all panels, each of which has `panelSums`.
  sym::Expr planes, offsets, panel, panelSums, sums;

  static WeightGradientTiles get(WeightGradientForm &form, WeightGradientTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
