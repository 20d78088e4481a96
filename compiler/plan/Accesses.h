#ifndef FREESTONE_COMPILER_PLAN_ACCESSES_H
#define FREESTONE_COMPILER_PLAN_ACCESSES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Tiles in row-major order: points of the first loops of all computes, then blocks of points of the next loops, merged
/// into one, then what else tells them apart.
struct TileGrid {
  /// The extents of the first loops, one of whose points each tile has.
  llvm::SmallVector<sym::Expr> outer;
  /// The number of loops that follow, and the points of a block of them; 0 where blocks are none of consecutive points.
  unsigned rowLoops = 0;
  sym::Expr rows;
  /// The number of these blocks, and of the tiles that share one.
  sym::Expr rowBlocks, inner;

  /// The extents of the longest prefix of `loops` that are 0, 1, …; the others count as inner tiles.
  static TileGrid get(ComputeOp compute, llvm::ArrayRef<unsigned> loops, sym::Expr inner);
};

/// The elements that a tile touches, for every argument and result of a program: an expression n if tile t touches n
/// elements from t * n on, a #tile.shared_block, or unit if unknown.
struct Accesses {
  llvm::SmallVector<mlir::Attribute> reads, writes;

  static Accesses getUnknown(ProgramOp program);
  /// For tiles of `perTile` consecutive points of the first `outer` loops.
  static Accesses get(ProgramOp program, unsigned outer, sym::Expr perTile);
  /// For tiles that each have points of the same outer loops or rows in all computes.
  static Accesses get(ProgramOp program, const TileGrid &grid);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ACCESSES_H
