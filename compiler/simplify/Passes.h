#ifndef FREESTONE_COMPILER_SIMPLIFY_PASSES_H
#define FREESTONE_COMPILER_SIMPLIFY_PASSES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace freestone::graph {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/simplify/Passes.h.inc"

/// Appends what makes the graphs of a module smaller and keeps their meaning: canonicalisation, constants, common
/// subexpressions, what is dead. Composites stay.
void addSimplifyPipeline(mlir::OpPassManager &modules);

/// That pipeline by the name `graph-simplify`.
void registerSimplifyPipeline();

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_SIMPLIFY_PASSES_H
