#include "compiler/plan/WeightGradientTiles.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

WeightGradientTiles WeightGradientTiles::get(WeightGradientForm &form, WeightGradientTilingAttr tiling) {
  int64_t width = tiling.getKernel().getWidth(), lanes = tiling.getKernel().getLanes();
  Expr one = Expr::constant(tiling.getContext(), 1), places = form.getPlaces(), rows = form.getRows(),
       channels = form.getExtent(form.channel);
  int64_t rowStride = form.row ? form.row->stride : 1, rowDilation = form.row ? form.row->dilation : 1;
  WeightGradientTiles tiles;
  tiles.tiling = tiling;
  tiles.pitch = form.getPitch();
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr ofPanel = Expr::floorDiv(constant(tiling.getPlaces()), Expr::max(one, places));
  Expr ofPlane = Expr::floorDiv(constant(tiling.getPlane() / rowStride), Expr::max(one, tiles.pitch * channels));
  tiles.rowBlocks = Expr::ceilDiv(rows, Expr::max(one, Expr::min(ofPanel, ofPlane)));
  tiles.rowStep = Expr::ceilDiv(rows, Expr::max(one, tiles.rowBlocks));
  tiles.planeRows = Expr::max(tiles.rowStep - 1, one - 1) * rowStride + (form.getRowTaps() - 1) * rowDilation + 1;
  tiles.sumRows = Expr::ceilDiv(form.getPixelTaps() * channels, 2) * 2;
  tiles.panelSums = form.getRowTaps() * tiles.sumRows * width;
  Expr outer = one, panels = Expr::ceilDiv(form.getExtent(form.column), width);
  for (unsigned loop : form.outer)
    outer = outer * form.getExtent(loop);
  Expr most = Expr::min(Expr::floorDiv(constant(tiling.getSums()), tiles.panelSums),
                        Expr::floorDiv(panels * outer, tiling.getLeastTiles()));
  tiles.panelBlocks = Expr::ceilDiv(panels, Expr::max(one, most));
  tiles.panelStep = Expr::ceilDiv(panels, tiles.panelBlocks);
  tiles.tiles = outer * tiles.panelBlocks;
  // The transposition writes whole squares, and vectors reach past the ends of rows.
  tiles.planes = (tiles.planeRows * tiles.pitch + lanes) * channels + lanes;
  tiles.offsets = tiles.rowStep * places;
  tiles.panel = (tiles.rowStep * places + lanes) * width;
  tiles.sums = tiles.panelSums * tiles.panelStep;
  return tiles;
}

Expr WeightGradientTiles::getScratch(Type elementType) const {
  return getScratchBytes(planes, elementType) +
         getScratchBytes(offsets, IntegerType::get(elementType.getContext(), 64)) +
         getScratchBytes(panel, elementType) + getScratchBytes(sums, elementType);
}
