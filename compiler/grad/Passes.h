#ifndef FREESTONE_COMPILER_GRAD_PASSES_H
#define FREESTONE_COMPILER_GRAD_PASSES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::grad {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/grad/Passes.h.inc"

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_PASSES_H
