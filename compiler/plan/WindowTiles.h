#ifndef FREESTONE_COMPILER_PLAN_WINDOWTILES_H
#define FREESTONE_COMPILER_PLAN_WINDOWTILES_H

#include "compiler/plan/WindowForm.h"

namespace freestone::tile {

/// The geometry that follows from the tiling of windows. A tile is a rectangle of pixels for all channels out; tiles
/// are outer loops times blocks of rows times blocks of pixels, row-major.
///
/// What the windows of a tile see is copied first, with its border. A row of the copy is as many runs as the pixels'
/// stride: run r has the elements r, r + stride, r + 2 * stride, … of the row. So the elements that one tap meets at
/// neighbouring pixels are neighbours.
struct WindowTiles {
  WindowTilingAttr tiling;
  sym::Expr rowBlocks, rowStep;
  sym::Expr pixelBlocks, pixelStep;
  sym::Expr tiles;

  /// Of the copy, for every dimension of the picture but the last: elements of it, and how far apart they are.
  llvm::SmallVector<sym::Expr> counts, strides;
  /// Elements of a run: whole vectors.
  sym::Expr run;
  /// Elements of scratch: the copy, a table of offsets (i64) for each operand, the sums of a block.
  sym::Expr copy, offsets, sums;

  static WindowTiles get(WindowForm &form, WindowTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(WindowForm &form) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WINDOWTILES_H
