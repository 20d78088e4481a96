#ifndef FREESTONE_COMPILER_FRONTEND_OPERATIONS_H
#define FREESTONE_COMPILER_FRONTEND_OPERATIONS_H

#include "compiler/frontend/Call.h"

namespace freestone::frontend {

/// Builds the operation that a call names; empty or null results and a refusal where that is not possible. The
/// operations are the functions of expressions/Operations.h, in snake case (README.md has the table).
llvm::SmallVector<Tensor> build(Call &call);

} // namespace freestone::frontend

#endif // FREESTONE_COMPILER_FRONTEND_OPERATIONS_H
