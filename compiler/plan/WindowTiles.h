#ifndef FREESTONE_COMPILER_PLAN_WINDOWTILES_H
#define FREESTONE_COMPILER_PLAN_WINDOWTILES_H

#include "compiler/plan/WindowForm.h"

namespace freestone::tile {

/// The geometry derived from a window tiling. A tile is a rectangle of pixels for all output channels; tiles are outer
/// loops times blocks of rows times blocks of pixels, row-major.
/// A tile's input is copied first, with its border. A row of the copy is deinterleaved into as many runs as the pixels'
/// stride: run r has the row's elements r, r + stride, r + 2 * stride, … So one tap reads contiguous elements for
/// neighbouring pixels.
struct WindowTiles {
  WindowTilingAttr tiling;
  sym::Expr rowBlocks, rowStep;
  sym::Expr pixelBlocks, pixelStep;
  sym::Expr tiles;

  /// Sizes and strides of the copy, for every dimension of the picture but the last.
  llvm::SmallVector<sym::Expr> counts, strides;
  /// Elements of a run: whole vectors.
  sym::Expr run;
  /// Elements of the copy in each of the rows of the picture.
  sym::Expr ofRow;
  /// Elements of scratch: the copy, a table of offsets (i64) for each operand, the sums of a block.
  sym::Expr copy, offsets, sums;

  static WindowTiles get(WindowForm &form, WindowTilingAttr tiling);
  /// Bytes of scratch per worker.
  sym::Expr getScratch(WindowForm &form) const;
  /// As getScratch, for any number of rows, where there is a loop over rows.
  sym::Expr getMostScratch(WindowForm &form) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WINDOWTILES_H
