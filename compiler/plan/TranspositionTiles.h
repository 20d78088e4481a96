#ifndef FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H
#define FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether neighbours along a parallel loop are neighbours in an operand's memory, and neighbours along the innermost
/// one, which the results are stored along, are not.
bool liesAlong(ComputeOp compute, unsigned input, unsigned loop);

/// The geometry that follows from a transposition's tiling. Tiles are blocks of rows times blocks of columns of every
/// plane, row-major.
struct TranspositionTiles {
  /// The extents of the loops that are neither rows nor columns, in order.
  llvm::SmallVector<sym::Expr> planes;
  sym::Expr rowCount, columnCount;
  sym::Expr rowBlocks, columnBlocks;
  sym::Expr tiles;

  /// Of a compute for which `isTransposition` holds.
  static TranspositionTiles get(ComputeOp compute, TranspositionTilingAttr tiling);
};

/// Whether computes have the loops that a tiling names, none of them reduces, and results lie row by row, in no layout.
bool isTransposition(llvm::ArrayRef<ComputeOp> computes, TranspositionTilingAttr tiling);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_TRANSPOSITIONTILES_H
