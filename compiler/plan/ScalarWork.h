#ifndef FREESTONE_COMPILER_PLAN_SCALARWORK_H
#define FREESTONE_COMPILER_PLAN_SCALARWORK_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// A program's operations on elements, over its symbols: loads, stores and operations of bodies, one per element.
/// Address computations are left out.
struct Work {
  sym::Expr operations;
  /// The scalar part: neither in a micro-kernel nor vectorized.
  sym::Expr scalar;
};

/// Derived from the plan, which the program must have. Explicit loops count the trips of their first iteration's
/// bounds; data-dependent loops one. Branches on vectors are left out as rare.
Work countWork(ProgramOp program);

/// The reason for a program's scalar work: its emitter, and what prevents vectorization.
llvm::StringRef explainScalarWork(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_SCALARWORK_H
