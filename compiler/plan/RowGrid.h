#ifndef FREESTONE_COMPILER_PLAN_ROWGRID_H
#define FREESTONE_COMPILER_PLAN_ROWGRID_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether computes have the same parallel loops.
bool shareParallelLoops(llvm::ArrayRef<ComputeOp> computes);

/// The geometry of computes that go row by row, in passes over a row's elements: of reductions along memory, and of
/// maps, whose columns are the innermost parallel loop. Tiles are row blocks times column blocks, row-major. Where rows
/// are in blocks of results, such a block is a row of the grid: they are row-major within a matrix, and matrices one
/// after another.
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
  /// Rows that are computed together, neighbours along the last row loop, where a row has at most so many elements.
  int64_t together = 1, shortRow = 0;
  /// The pass that prefetches what the first one reads of the rows that follow; -1: none.
  int64_t prefetching = -1;
  sym::Expr tiles;

  /// Elements of what is kept of one row, or of each of those together; and from one of these to the next.
  sym::Expr getKeptElements(sym::Expr rowLength) const;
  int64_t getKeptPitch() const;

  /// Of a program's first compute.
  static RowGrid get(ComputeOp compute, RowsTilingAttr tiling);
  static RowGrid get(ComputeOp compute, MapTilingAttr tiling);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWGRID_H
