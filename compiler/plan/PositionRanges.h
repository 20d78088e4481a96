#ifndef FREESTONE_COMPILER_PLAN_POSITIONRANGES_H
#define FREESTONE_COMPILER_PLAN_POSITIONRANGES_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Ranges of the positions that a body computes from its loops and from constants, such as those at which it reads a
/// table. A choice between two positions is of the range that its condition leaves.
class PositionRanges {
public:
  /// Every loop from 0 to below its extent.
  explicit PositionRanges(ComputeOp compute);

  void set(unsigned loop, sym::Interval range) { loops[loop] = range; }
  sym::Interval get(mlir::Value position) const;
  /// Whether an index of the read is always within its dimension.
  bool isInside(ReadOp read, unsigned dim) const;

private:
  sym::Interval getChosen(mlir::arith::SelectOp select) const;

  llvm::SmallVector<sym::Interval> loops;
};

/// A position of a body as an expression over loops and sizes; nothing where it depends on data.
std::optional<sym::Expr> getPositionExpr(mlir::Value position);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_POSITIONRANGES_H
