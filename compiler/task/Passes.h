#ifndef FREESTONE_COMPILER_TASK_PASSES_H
#define FREESTONE_COMPILER_TASK_PASSES_H

#include "compiler/dialect/task/TaskDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::task {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/task/Passes.h.inc"

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_PASSES_H
