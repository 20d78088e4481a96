#ifndef FREESTONE_COMPILER_PLAN_WINDOWTILES_H
#define FREESTONE_COMPILER_PLAN_WINDOWTILES_H

#include "compiler/plan/WindowForm.h"

namespace freestone::tile {

/// Rows, pixels of a row, the strides of windows, and what a window spans in rows, in pixels, and in all other
/// dimensions together.
template <typename Size> struct WindowSizes {
  Size rows, pixels;
  int64_t rowStride, pixelStride;
  Size rowSpan, pixelSpan, otherSpan;
  /// Whether the picture has a dimension of rows.
  bool hasRows;
};

WindowSizes<sym::Expr> getSizes(WindowForm &form);

/// Blocks of windows, as of `WindowTiles`.
template <typename Size> struct WindowBlocks { Size rowBlocks, rowStep, pixelBlocks, pixelStep, run, ofRow; };

/// The blocks at any sizes, on integers or size expressions, whose operations are `on`'s.
template <typename Size, typename Tiling, typename Operations>
WindowBlocks<Size> getWindowBlocks(Tiling tiling, const WindowSizes<Size> &sizes, const Operations &on) {
  WindowBlocks<Size> blocks;
  Size one = on.constant(1);
  // Blocks of about equal size, at most `most`.
  auto divide = [&](Size extent, Size most, Size &count, Size &step) {
    count = on.max(one, on.ceilDiv(extent, most));
    step = on.ceilDiv(extent, count);
  };
  int64_t lanes = tiling.getLanes();
  divide(sizes.pixels, on.constant(tiling.getPixels()), blocks.pixelBlocks, blocks.pixelStep);
  Size border = on.floorDiv(sizes.pixelSpan - 1, on.constant(sizes.pixelStride));
  blocks.run = on.ceilDiv(blocks.pixelStep + border, on.constant(lanes)) * lanes;
  blocks.ofRow = blocks.run * sizes.pixelStride * sizes.otherSpan;
  // As many rows as fit in the copy, in whole blocks of registers: the last one may be padded.
  Size ofBlock = on.constant(tiling.getRows()), most = one;
  if (sizes.hasRows) {
    Size fit = on.floorDiv(on.constant(tiling.getCopy()), on.max(one, blocks.ofRow));
    Size rows = on.floorDiv(fit - sizes.rowSpan, on.constant(sizes.rowStride)) + 1;
    most = on.max(one, on.floorDiv(rows, ofBlock));
  }
  divide(on.ceilDiv(sizes.rows, ofBlock), most, blocks.rowBlocks, blocks.rowStep);
  blocks.rowStep = blocks.rowStep * tiling.getRows();
  return blocks;
}

/// The geometry derived from a window tiling. A tile is a rectangle of pixels for all output channels; tiles are outer
/// loops times blocks of rows times blocks of pixels, row-major.
/// A tile's input is copied first, with its border, unless it is read in place. A row of the copy is deinterleaved into
/// as many runs as the pixels' stride: run r has the row's elements r, r + stride, r + 2 * stride, … So one tap reads
/// contiguous elements for neighbouring pixels.
struct WindowTiles {
  WindowTilingAttr tiling;
  sym::Expr rowBlocks, rowStep;
  sym::Expr pixelBlocks, pixelStep;
  sym::Expr tiles;

  /// Sizes and strides of the copy, for every dimension of the picture but the last.
  llvm::SmallVector<sym::Expr> counts, strides;
  /// Elements of a vector, and of a run: whole vectors.
  int64_t lanes;
  sym::Expr run;
  /// Elements of the copy in each of the rows of the picture.
  sym::Expr ofRow;
  /// Elements of scratch: the copy, or a row of zeros; a table of offsets (i64) for each operand; the sums of a block.
  sym::Expr copy, offsets, sums;

  static WindowTiles get(WindowForm &form, WindowTilingAttr tiling);
  /// Bytes of scratch per worker.
  sym::Expr getScratch(WindowForm &form) const;
  /// As getScratch, for any number of rows, where there is a loop over rows.
  sym::Expr getMostScratch(WindowForm &form) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WINDOWTILES_H
