#ifndef FREESTONE_COMPILER_PLAN_ROWGRID_H
#define FREESTONE_COMPILER_PLAN_ROWGRID_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether computes have the same parallel loops.
bool shareParallelLoops(llvm::ArrayRef<ComputeOp> computes);

/// The geometry of computes that go row by row, in passes over a row's elements: of reductions along memory, and of
/// maps, whose columns are the innermost parallel loop. Tiles are row blocks times column blocks, row-major.
struct RowGrid {
  /// The loops that count rows, the number of rows, and those of a tile.
  llvm::SmallVector<sym::Expr> rowExtents;
  sym::Expr rowCount, rows;
  /// The columns of a tile; nothing where it has whole rows.
  std::optional<sym::Expr> columns;
  sym::Expr columnBlocks;
  /// Columns at which segments of a row end, beside its own end.
  llvm::SmallVector<sym::Expr> ends;
  /// Of each pass: the inner loops of a run, its lanes, and vectors side by side.
  struct Pass {
    int64_t runLoops, lanes, vectors;
  };
  llvm::SmallVector<Pass> passes;
  sym::Expr tiles;

  /// Of a program's first compute.
  static RowGrid get(ComputeOp compute, RowsTilingAttr tiling);
  static RowGrid get(ComputeOp compute, MapTilingAttr tiling);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWGRID_H
