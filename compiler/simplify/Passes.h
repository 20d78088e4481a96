#ifndef FREESTONE_COMPILER_SIMPLIFY_PASSES_H
#define FREESTONE_COMPILER_SIMPLIFY_PASSES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::graph {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/simplify/Passes.h.inc"

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_SIMPLIFY_PASSES_H
