#ifndef FREESTONE_COMPILER_PLAN_MAPTILES_H
#define FREESTONE_COMPILER_PLAN_MAPTILES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether computes have the same parallel loops.
bool shareParallelLoops(llvm::ArrayRef<ComputeOp> computes);

/// The geometry of tiled maps: computes over the same parallel loops. Tiles are row blocks times column blocks,
/// row-major.
struct MapTiles {
  /// The parallel loops; the innermost counts columns, the others rows.
  llvm::SmallVector<sym::Expr> parallel;
  sym::Expr rowCount, columnBlocks;
  sym::Expr tiles;

  static MapTiles get(ComputeOp compute, MapTilingAttr tiling);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MAPTILES_H
