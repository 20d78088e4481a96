#ifndef FREESTONE_COMPILER_PLAN_ROWPASSES_H
#define FREESTONE_COMPILER_PLAN_ROWPASSES_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The role of a compute within a row.
enum class RowRole {
  /// One value for every element of the row.
  elements,
  /// Values of the whole row, reduced from its elements.
  reduction,
  /// Values of the whole row, computed from such values.
  scalar,
};

/// The computes of a program, assigned to passes over a row.
struct RowPasses {
  struct Entry {
    tile::ComputeOp compute;
    RowRole role;
    /// The pass that computes it; scalars are computed before the pass of this number.
    unsigned pass;
  };
  llvm::SmallVector<Entry> entries;
  unsigned passes = 0;
  /// Values of elements that later passes read again.
  llvm::SetVector<mlir::Value> kept;

  const Entry *find(mlir::Value result) const;
};

/// Fails, with a reason in `why`, if the computes do not share their first `rowLoops` loops or read elements of other
/// rows.
mlir::FailureOr<RowPasses> getRowPasses(tile::ProgramOp program, unsigned rowLoops, std::string &why);

/// The passes of a map, whose computes share their parallel loops: one over the innermost loop, whose computes may
/// reduce within an element; none without loops.
RowPasses getMapPasses(llvm::ArrayRef<ComputeOp> computes);

/// The extents of the element loops that all computes of a pass share; nothing if they differ.
std::optional<llvm::SmallVector<sym::Expr>> getPassExtents(const RowPasses &passes, unsigned pass, unsigned rowLoops);

/// Whether two passes go along the same elements, in so many inner loops each.
bool goAlike(const RowPasses &passes, unsigned pass, unsigned other, unsigned rowLoops,
             llvm::ArrayRef<int64_t> runLoops);

/// The length of a row of this compute: the product of the extents after the row loops.
sym::Expr getRowLength(tile::ComputeOp compute, unsigned rowLoops);

/// Whether the operand is read at the leading loops, one coordinate each.
bool isReadAtLeadingLoops(ComputeOp compute, unsigned input);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_ROWPASSES_H
