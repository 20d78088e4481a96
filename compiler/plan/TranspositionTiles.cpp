#include "compiler/plan/TranspositionTiles.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowGrid.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

bool tile::liesAlong(ComputeOp compute, unsigned input, unsigned loop) {
  std::optional<LinearIndex> linear = getStrides(compute, input);
  if (!linear || !linear->strides[loop].isConstant(1))
    return false;
  Expr alongColumns = linear->strides[compute.getNumParallel() - 1];
  return !alongColumns.isConstant(0) && !alongColumns.isConstant(1);
}

bool tile::isTransposition(ArrayRef<ComputeOp> computes, TranspositionTilingAttr tiling) {
  if (computes.empty() || !shareParallelLoops(computes))
    return false;
  ComputeOp first = computes.front();
  int64_t loops = first.getNumParallel();
  if (tiling.getAcross() + 1 >= loops)
    return false;
  bool isWhole = first.getExtents()[loops - 1].isConstant(tiling.getWidth());
  if (tiling.interleaves() && (!isWhole || tiling.getAcross() + 2 != loops))
    return false;
  auto isPlain = [](Type type) { return !cast<graph::TensorType>(type).getLayout(); };
  return llvm::all_of(computes, [&](ComputeOp compute) {
    return !compute.getNumReductions() && llvm::all_of(compute.getResultTypes(), isPlain);
  });
}

TranspositionTiles TranspositionTiles::get(ComputeOp compute, TranspositionTilingAttr tiling) {
  MLIRContext *context = tiling.getContext();
  SmallVector<Expr> extents = compute.getExtents();
  TranspositionTiles tiles;
  tiles.rowCount = extents[tiling.getAcross()];
  tiles.columnCount = extents.back();
  tiles.rowBlocks = Expr::ceilDiv(tiles.rowCount, Expr::constant(context, tiling.getRows()));
  tiles.columnBlocks = Expr::ceilDiv(tiles.columnCount, Expr::constant(context, tiling.getColumns()));
  tiles.tiles = tiles.rowBlocks * tiles.columnBlocks;
  for (auto [loop, extent] : llvm::enumerate(ArrayRef(extents).drop_back()))
    if (static_cast<int64_t>(loop) != tiling.getAcross()) {
      tiles.planes.push_back(extent);
      tiles.tiles = tiles.tiles * extent;
    }
  return tiles;
}
