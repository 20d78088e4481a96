#ifndef FREESTONE_COMPILER_PLAN_COLUMNSEGMENTS_H
#define FREESTONE_COMPILER_PLAN_COLUMNSEGMENTS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Segments of at most so many columns are computed column by column, which is faster than a masked vector.
inline constexpr int64_t fewColumns = 4;

/// What holds for a map at all columns (positions of its innermost loop) of a segment.
struct ColumnFacts {
  /// Comparisons of its body, and their results.
  llvm::SmallDenseMap<mlir::Value, bool> conditions;
  /// Operands with a fill: the dimensions in whose bounds they are read.
  llvm::SmallDenseSet<std::pair<unsigned, unsigned>> insideDims;
  /// Operands that are read out of bounds, where they are their fill.
  llvm::SmallDenseSet<unsigned> outside;
  /// The dimensions of reads of tables within their bounds.
  llvm::SmallDenseSet<std::pair<mlir::Operation *, unsigned>> insideReads;
};

/// The facts that follow from begin <= column < end.
ColumnFacts getColumnFacts(ComputeOp compute, sym::Expr begin, sym::Expr end);

/// The columns, in ascending order, at which comparisons of bodies change their results and operands reach the bounds
/// of their tensors: between two of them an operand is read, or not, for all columns. Nothing where their order depends
/// on sizes.
std::optional<llvm::SmallVector<sym::Expr>> getColumnEnds(llvm::ArrayRef<ComputeOp> computes);

/// Whether the operand of a map is a piece of its rows, as one of a Concat along them: it is read at a shifted column,
/// and in segments where that is out of bounds, no result depends on its fill. False where the order of segments
/// depends on sizes.
bool isPieceOfRows(ComputeOp map, unsigned input);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_COLUMNSEGMENTS_H
