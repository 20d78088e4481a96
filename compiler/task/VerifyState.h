#ifndef FREESTONE_COMPILER_TASK_VERIFYSTATE_H
#define FREESTONE_COMPILER_TASK_VERIFYSTATE_H

#include "mlir/IR/BuiltinOps.h"

namespace freestone::task {

/// Checks what the functions of a module say of what they keep from run to run: types are static and the same wherever
/// a name stands, a name is given and returned once, and all that say which weight it begins as say the same.
llvm::LogicalResult verifyState(mlir::ModuleOp module);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_VERIFYSTATE_H
