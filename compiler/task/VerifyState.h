#ifndef FREESTONE_COMPILER_TASK_VERIFYSTATE_H
#define FREESTONE_COMPILER_TASK_VERIFYSTATE_H

#include "mlir/IR/BuiltinOps.h"

namespace freestone::task {

/// Verifies the states of a module's functions: types are static and equal under one name, a state is taken and
/// returned at most once, and all mentions of its initial weight agree.
llvm::LogicalResult verifyState(mlir::ModuleOp module);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_VERIFYSTATE_H
