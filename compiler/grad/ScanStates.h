#ifndef FREESTONE_COMPILER_GRAD_SCANSTATES_H
#define FREESTONE_COMPILER_GRAD_SCANSTATES_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// The results of contractions and convolutions in the body of a scan, in order: what costs too much to be computed
/// again.
llvm::SmallVector<mlir::Value> getCostly(mlir::Block &body);

/// Whether the scan collects, last, the carried values with which each step begins, then its costly values.
bool keepsStates(graph::ScanOp op);

/// The same scan that does, before `op`, whose results are its first ones.
graph::ScanOp keepStates(graph::ScanOp op);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_SCANSTATES_H
