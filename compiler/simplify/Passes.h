#ifndef FREESTONE_COMPILER_SIMPLIFY_PASSES_H
#define FREESTONE_COMPILER_SIMPLIFY_PASSES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::graph {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/simplify/Passes.h.inc"

/// Appends passes that shrink graphs and keep their meaning: canonicalization, constant folding, common subexpression
/// elimination, dead code elimination. Composites stay.
void addSimplifyPipeline(mlir::OpPassManager &modules);

/// Registers that pipeline as `graph-simplify`.
void registerSimplifyPipeline();

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_SIMPLIFY_PASSES_H
