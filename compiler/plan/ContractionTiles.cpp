#include "compiler/plan/ContractionTiles.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

ContractionTiles ContractionTiles::get(ContractionForm &form, ContractionTilingAttr tiling) {
  MLIRContext *context = tiling.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  MicroKernelAttr kernel = tiling.getKernel();
  Expr rows = form.getExtent(form.m), columns = form.getExtent(form.n), depth = form.getDepth(tiling.getWordSteps());
  int64_t width = kernel.getWidth();
  std::optional<int64_t> windowTaps = form.getWindowTaps();

  ContractionTiles tiles;
  tiles.tiling = tiling;
  tiles.taps = windowTaps.value_or(1);
  tiles.rowBlocks = Expr::ceilDiv(rows, tiling.getRows());
  // A packed row serves all panels of its tile: with few rows little is packed, and tiles may be many. There must be
  // enough tiles for all workers.
  Expr allPanels = form.getExtent(form.outer) * tiles.rowBlocks * Expr::ceilDiv(columns, width);
  Expr most = Expr::min(Expr::floorDiv(rows, 2), Expr::floorDiv(allPanels, tiling.getLeastTiles()));
  Expr panels = Expr::max(constant(1), Expr::min(constant(tiling.getPanels()), most));
  tiles.columnBlocks = Expr::ceilDiv(columns, panels * width);
  // A window is packed tap by tap, so that all steps within one outermost step are in one block.
  Expr steps = windowTaps ? form.getExtent(form.k.front()) : depth;
  int64_t mostSteps = std::max<int64_t>(1, tiling.getDepth() / tiles.taps);
  tiles.depthBlocks = Expr::max(constant(1), Expr::ceilDiv(steps, mostSteps));
  tiles.tiles = form.getExtent(form.outer) * tiles.rowBlocks * tiles.columnBlocks;

  Expr rowStep = Expr::min(rows + kernel.getRows(), constant(tiling.getRows()));
  int64_t storedDepths = std::max<int64_t>(1, tiling.getKeptDepths());
  int64_t mostDepth = std::max(tiling.getDepth(), tiles.taps);
  Expr keptDepth =
      Expr::min(depth + storedDepths * tiling.getDepthUnit() * tiles.taps, constant(storedDepths * mostDepth));
  // The transposition packs whole squares, also at the end of k.
  tiles.packedRows = rowStep * keptDepth + kernel.getLanes() * kernel.getRows();
  Expr panel = constant(mostDepth * width), mostKept = constant(tiling.getKeptColumns());
  tiles.packedColumns = Expr::max(panel, Expr::min((columns + width) * keptDepth, mostKept));
  tiles.sums = rowStep * Expr::min(columns + width, constant(tiling.getPanels() * width));
  return tiles;
}

Expr ContractionTiles::getScratch(Type elementType) const {
  return getScratchBytes(packedRows, elementType) + getScratchBytes(packedColumns, elementType) +
         getScratchBytes(sums, elementType);
}
