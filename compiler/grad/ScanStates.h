#ifndef FREESTONE_COMPILER_GRAD_SCANSTATES_H
#define FREESTONE_COMPILER_GRAD_SCANSTATES_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// Marks scans and loops that collect what their gradient needs, during one differentiation.
inline constexpr llvm::StringLiteral keepsStatesAttr = "grad.keeps_states";

/// The results of contractions and convolutions in the body of a scan or loop, in order: what costs too much to be
/// computed again, and so is kept; none where the function has `recomputesAttr`.
llvm::SmallVector<mlir::Value> getCostly(mlir::Block &body);

/// Whether the scan collects, last, the carried values with which each step begins, then its costly values.
bool keepsStates(graph::ScanOp op);

/// The same scan that does, before `op`, whose results are its first ones.
graph::ScanOp keepStates(graph::ScanOp op);

/// Forgets which scans and loops keep states: to what differentiates them again, these are results like any other.
void forgetKept(mlir::Operation *function);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_SCANSTATES_H
