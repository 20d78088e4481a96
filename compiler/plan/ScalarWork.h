#ifndef FREESTONE_COMPILER_PLAN_SCALARWORK_H
#define FREESTONE_COMPILER_PLAN_SCALARWORK_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// What the tiles of a program do to elements, over the program's symbols: an operation is a load, a store or one of a
/// body, once for every element. Positions in memory are left out.
struct Work {
  sym::Expr operations;
  /// Of these, what goes element by element: neither through a micro-kernel nor in vectors.
  sym::Expr scalar;
};

/// Follows from the plan, which the program must have. Written-out loops count as often as their bounds say in their
/// first round; where only data tell, once. What vectors decide is left out as rare.
Work countWork(ProgramOp program);

/// Why a program with scalar work has it: which emitter makes its code, and for what reason element by element.
llvm::StringRef explainScalarWork(ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_SCALARWORK_H
