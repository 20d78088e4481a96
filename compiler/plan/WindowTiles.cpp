#include "compiler/plan/WindowTiles.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

WindowTiles WindowTiles::get(WindowForm &form, WindowTilingAttr tiling) {
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr one = constant(1);
  int64_t lanes = tiling.getLanes();
  unsigned pixelDim = form.compute.getInputType(form.picture).getRank() - 1;
  WindowTiles tiles;
  tiles.tiling = tiling;
  auto roundUp = [&](Expr value, int64_t unit) { return Expr::ceilDiv(value, unit) * unit; };
  // Blocks of about equal size, at most `most`.
  auto divide = [&](Expr extent, Expr most, Expr &count, Expr &step) {
    count = Expr::max(one, Expr::ceilDiv(extent, most));
    step = Expr::ceilDiv(extent, count);
  };
  divide(form.getPixels(), constant(tiling.getPixels()), tiles.pixelBlocks, tiles.pixelStep);
  tiles.run = roundUp(tiles.pixelStep + Expr::floorDiv(form.getSpan(pixelDim) - 1, form.pixelStride), lanes);

  Expr stride = tiles.run * form.pixelStride;
  tiles.ofRow = stride;
  for (unsigned dim = 0; dim < pixelDim; ++dim) {
    tiles.counts.push_back(form.getSpan(dim));
    if (dim != form.rowDim)
      tiles.ofRow = tiles.ofRow * tiles.counts.back();
  }
  // As many rows as fit in the copy, in whole register blocks: the last block may be padded.
  Expr rows = one;
  if (form.rowDim) {
    Expr fit = Expr::floorDiv(constant(tiling.getCopy()), Expr::max(one, tiles.ofRow));
    rows = Expr::floorDiv(fit - tiles.counts[*form.rowDim], form.rowStride) + 1;
  }
  divide(form.getRows(), Expr::max(constant(tiling.getRows()), rows), tiles.rowBlocks, tiles.rowStep);
  if (form.rowDim) {
    Expr last = Expr::max(one, roundUp(tiles.rowStep, tiling.getRows())) - 1;
    tiles.counts[*form.rowDim] = tiles.counts[*form.rowDim] + last * form.rowStride;
  }
  tiles.strides.resize(pixelDim);
  for (unsigned dim = pixelDim; dim > 0; --dim) {
    tiles.strides[dim - 1] = stride;
    stride = stride * tiles.counts[dim - 1];
  }
  tiles.tiles = tiles.rowBlocks * tiles.pixelBlocks;
  for (unsigned loop : form.outer)
    tiles.tiles = tiles.tiles * form.getExtent(loop);

  // Padding: the last vector of a row reads past its end.
  tiles.copy = stride + lanes;
  tiles.offsets = form.getNumTaps() * form.compute.getInputs().size();
  tiles.sums = constant(tiling.getChannels() * tiling.getRows() * tiling.getVectors() * lanes);
  return tiles;
}

Expr WindowTiles::getScratch(WindowForm &form) const {
  Type word = IntegerType::get(tiling.getContext(), 64);
  return getScratchBytes(copy, form.elementType) + getScratchBytes(offsets, word) +
         getScratchBytes(sums, form.compute.getInit(0).getType());
}

Expr WindowTiles::getMostScratch(WindowForm &form) const {
  // Rows of the picture fit the tiling's copy, or are those of one block of registers; the last block may be padded.
  Expr rows = form.getSpan(*form.rowDim) + 2 * tiling.getRows() * form.rowStride;
  WindowTiles most = *this;
  most.copy = ofRow * rows + tiling.getCopy() + tiling.getLanes();
  return most.getScratch(form);
}
