#ifndef FREESTONE_COMPILER_PLAN_ROWPASSES_H
#define FREESTONE_COMPILER_PLAN_ROWPASSES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// What a compute does with the row at hand.
enum class RowRole {
  /// A value for every element of the row.
  elements,
  /// Values of the whole row, from every element.
  reduction,
  /// Values of the whole row, from such values.
  scalar,
};

/// How the computes of a program are laid into passes over a row.
struct RowPasses {
  struct Entry {
    tile::ComputeOp compute;
    RowRole role;
    /// The pass that computes it; scalars are computed before the pass of this number.
    unsigned pass;
  };
  llvm::SmallVector<Entry> entries;
  unsigned passes = 0;
  /// Values of elements that a later pass reads again.
  llvm::SetVector<mlir::Value> kept;

  const Entry *find(mlir::Value result) const;
};

/// Fails, with a reason in `why`, where the computes do not share their first `rowLoops` loops or read each other's
/// rows at other places.
mlir::FailureOr<RowPasses> getRowPasses(tile::ProgramOp program, unsigned rowLoops, std::string &why);

/// The extents of the loops over the elements of a row that all computes of a pass have; nothing where these differ.
std::optional<llvm::SmallVector<sym::Expr>> getPassExtents(const RowPasses &passes, unsigned pass, unsigned rowLoops);

/// The elements of a row of this compute: the product of the extents behind the row loops.
sym::Expr getRowLength(tile::ComputeOp compute, unsigned rowLoops);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWPASSES_H
