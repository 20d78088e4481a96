#ifndef FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H
#define FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether an operand is contiguous along a parallel loop, and strided along the innermost one, the loop along which
/// results are contiguous. False for operands that are broadcast along the innermost loop.
bool liesAlong(ComputeOp compute, unsigned input, unsigned loop);

/// The geometry derived from a transposition's tiling. Tiles are planes times blocks of rows times blocks of columns,
/// row-major.
struct TranspositionTiles {
  /// The extents of the loops that are neither rows nor columns, in order.
  llvm::SmallVector<sym::Expr> planes;
  sym::Expr rowCount, columnCount;
  sym::Expr rowBlocks, columnBlocks;
  sym::Expr tiles;

  /// Of a compute for which `isTransposition` holds.
  static TranspositionTiles get(ComputeOp compute, TranspositionTilingAttr tiling);
};

/// Whether a tiling fits computes: they share parallel loops that include `across`, have no reductions, and their
/// results are row-major, without a layout.
bool isTransposition(llvm::ArrayRef<ComputeOp> computes, TranspositionTilingAttr tiling);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H
