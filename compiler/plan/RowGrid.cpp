#include "compiler/plan/RowGrid.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

bool tile::shareParallelLoops(ArrayRef<ComputeOp> computes) {
  auto parallelOf = [](ComputeOp compute) {
    SmallVector<Expr> extents = compute.getExtents();
    extents.truncate(compute.getNumParallel());
    return extents;
  };
  return llvm::all_of(computes, [&](ComputeOp compute) { return parallelOf(compute) == parallelOf(computes.front()); });
}

static RowGrid getRows(ArrayRef<Expr> extents, Expr rows) {
  RowGrid grid;
  grid.rowExtents = llvm::to_vector(extents);
  grid.rows = rows;
  grid.rowCount = grid.columnBlocks = Expr::constant(rows.context(), 1);
  for (Expr extent : grid.rowExtents)
    grid.rowCount = grid.rowCount * extent;
  return grid;
}

/// A line more than a row, so that rows do not lie in the same sets of a cache.
int64_t RowGrid::getKeptPitch() const {
  constexpr int64_t line = 16;
  return shortRow + line;
}

Expr RowGrid::getKeptElements(Expr rowLength) const {
  return together == 1 ? rowLength
                       : Expr::max(rowLength, Expr::constant(rowLength.context(), together * getKeptPitch()));
}

RowGrid RowGrid::get(ComputeOp compute, RowsTilingAttr tiling) {
  SmallVector<Expr> extents = compute.getExtents();
  extents.truncate(tiling.getRowLoops());
  if (tiling.hasBlocks()) {
    extents.back() = Expr::ceilDiv(extents.back(), tiling.getBlockColumns());
    extents.rbegin()[1] = Expr::ceilDiv(extents.rbegin()[1], tiling.getBlockRows());
  }
  RowGrid grid = getRows(extents, tiling.getRows());
  grid.together = tiling.getTogether();
  grid.shortRow = tiling.getShortRow();
  grid.prefetching = tiling.getPrefetching();
  for (auto [runLoops, lanes, vectors] :
       llvm::zip_equal(tiling.getRunLoops(), tiling.getLanes(), tiling.getAccumulators()))
    grid.passes.push_back({runLoops, lanes, vectors});
  grid.tiles = Expr::ceilDiv(grid.rowCount, grid.rows);
  return grid;
}

RowGrid RowGrid::get(ComputeOp compute, MapTilingAttr tiling) {
  unsigned parallel = compute.getNumParallel();
  SmallVector<Expr> extents = compute.getExtents();
  RowGrid grid = getRows(ArrayRef(extents).take_front(parallel ? parallel - 1 : 0), tiling.getRows());
  grid.tiles = grid.columnBlocks;
  if (!parallel)
    return grid;
  grid.passes.push_back({1, tiling.getLanes(), tiling.getVectors()});
  grid.ends.assign(tiling.getEnds().begin(), tiling.getEnds().end());
  // Whole rows are one block, even if they are empty.
  Expr columnCount = extents[parallel - 1];
  if (tiling.getColumns() != columnCount) {
    grid.columns = tiling.getColumns();
    grid.columnBlocks = Expr::ceilDiv(columnCount, tiling.getColumns());
  }
  grid.tiles = grid.columnBlocks;
  if (parallel > 1)
    grid.tiles = Expr::ceilDiv(grid.rowCount, grid.rows) * grid.columnBlocks;
  return grid;
}
