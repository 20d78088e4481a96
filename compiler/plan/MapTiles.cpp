#include "compiler/plan/MapTiles.h"

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

MapTiles MapTiles::get(ComputeOp compute, MapTilingAttr tiling) {
  Expr one = Expr::constant(tiling.getContext(), 1);
  MapTiles tiles;
  tiles.parallel = compute.getExtents();
  tiles.parallel.truncate(compute.getNumParallel());
  tiles.rowCount = tiles.columnBlocks = tiles.tiles = one;
  if (tiles.parallel.empty())
    return tiles;
  for (Expr extent : ArrayRef(tiles.parallel).drop_back())
    tiles.rowCount = tiles.rowCount * extent;
  // Whole rows are one block, even if they are empty.
  if (tiling.getColumns() != tiles.parallel.back())
    tiles.columnBlocks = Expr::ceilDiv(tiles.parallel.back(), tiling.getColumns());
  Expr rowBlocks = tiles.parallel.size() == 1 ? one : Expr::ceilDiv(tiles.rowCount, tiling.getRows());
  tiles.tiles = rowBlocks * tiles.columnBlocks;
  return tiles;
}
