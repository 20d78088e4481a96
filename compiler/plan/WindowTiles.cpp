#include "compiler/plan/WindowTiles.h"

#include "compiler/plan/ChannelVectors.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/SizeOperations.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

WindowSizes<Expr> tile::getSizes(WindowForm &form) {
  unsigned pixelDim = form.compute.getInputType(form.picture).getRank() - 1;
  Expr one = Expr::constant(form.compute.getContext(), 1), otherSpan = one;
  for (unsigned dim = 0; dim < pixelDim; ++dim)
    if (dim != form.rowDim)
      otherSpan = otherSpan * form.getSpan(dim);
  return {form.getRows(),
          form.getPixels(),
          form.rowStride,
          form.pixelStride,
          form.rowDim ? form.getSpan(*form.rowDim) : one,
          form.getSpan(pixelDim),
          otherSpan,
          form.rowDim.has_value()};
}

WindowTiles WindowTiles::get(WindowForm &form, WindowTilingAttr tiling) {
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr one = constant(1);
  int64_t lanes = tiling.getLanes();
  unsigned pixelDim = form.compute.getInputType(form.picture).getRank() - 1;
  WindowTiles tiles;
  tiles.tiling = tiling;
  tiles.lanes = lanes;
  WindowBlocks<Expr> blocks = getWindowBlocks<Expr>(tiling, getSizes(form), ExprOperations{tiling.getContext()});
  tiles.pixelBlocks = blocks.pixelBlocks;
  tiles.pixelStep = blocks.pixelStep;
  tiles.rowBlocks = blocks.rowBlocks;
  tiles.rowStep = blocks.rowStep;
  tiles.run = blocks.run;
  tiles.ofRow = blocks.ofRow;
  Expr stride = tiles.run * form.pixelStride;
  for (unsigned dim = 0; dim < pixelDim; ++dim)
    tiles.counts.push_back(form.getSpan(dim));
  if (form.rowDim) {
    Expr last = Expr::max(one, tiles.rowStep) - 1;
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
  tiles.copy = (tiling.getInPlace() ? tiles.run : stride) + lanes;
  tiles.offsets = form.getNumTaps() * form.compute.getInputs().size();
  tiles.sums = constant(tiling.getChannels() * tiling.getRows() * tiling.getVectors() * lanes);
  return tiles;
}

Expr WindowTiles::getScratch(WindowForm &form) const {
  Type word = IntegerType::get(tiling.getContext(), 64);
  Expr bytes = getScratchBytes(copy, form.elementType) + getScratchBytes(offsets, word) +
               getScratchBytes(sums, form.compute.getInit(0).getType());
  if (int64_t most = tiling.getChannelVectors())
    bytes = bytes + ChannelVectors::get(form)->getScratch(form, most, tiling.getLanes());
  return bytes;
}

Expr WindowTiles::getMostScratch(WindowForm &form) const {
  // Rows of the picture fit the tiling's copy, or are those of one block of registers; the last block may be padded.
  Expr rows = form.getSpan(*form.rowDim) + 2 * tiling.getRows() * form.rowStride;
  WindowTiles most = *this;
  if (!tiling.getInPlace())
    most.copy = ofRow * rows + tiling.getCopy() + tiling.getLanes();
  return most.getScratch(form);
}
