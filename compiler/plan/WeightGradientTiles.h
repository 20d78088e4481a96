#ifndef FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
#define FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H

#include "compiler/plan/WeightGradientForm.h"

namespace freestone::tile {

/// The geometry that follows from the tiling of a weight gradient: a tile has one panel of the gradient's channels, for
/// all taps and channels of the picture, and adds up images and blocks of rows one after the other. Channels of the
/// picture are neighbours in its copy, so that those of all taps of a row are the rows of one micro-kernel.
struct WeightGradientTiles {
  WeightGradientTilingAttr tiling;
  /// Of places.
  sym::Expr rowBlocks, rowStep;
  sym::Expr tiles;
  /// Pixels in a row of the copied picture, and its rows.
  sym::Expr pitch, planeRows;
  /// Rows of sums for the taps of a row, an even number.
  sym::Expr sumRows;
  /// Elements of scratch: the picture, where its places are (i64), a panel of the gradient, sums.
  sym::Expr planes, offsets, panel, sums;

  static WeightGradientTiles get(WeightGradientForm &form, WeightGradientTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTTILES_H
