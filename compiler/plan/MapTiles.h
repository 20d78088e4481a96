#ifndef FREESTONE_COMPILER_PLAN_MAPTILES_H
#define FREESTONE_COMPILER_PLAN_MAPTILES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether computes have the same parallel loops.
bool shareParallelLoops(llvm::ArrayRef<ComputeOp> computes);

/// The geometry that follows from the tiling of computes over the same parallel loops. Tiles are blocks of rows times
/// blocks of columns, row-major.
struct MapTiles {
  /// The parallel loops; the innermost one counts columns, the others rows.
  llvm::SmallVector<sym::Expr> parallel;
  sym::Expr rowCount, columnBlocks;
  sym::Expr tiles;

  static MapTiles get(ComputeOp compute, MapTilingAttr tiling);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MAPTILES_H
