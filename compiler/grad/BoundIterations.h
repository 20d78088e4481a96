#ifndef FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H
#define FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// Builds a loop that data end, before it, as a scan of all iterations up to its limit: each is a branch, which does
/// nothing once the condition is false. Returns its results. Scans and branches have gradients; memory is that of the
/// limit. Fails with a diagnostic where the limit is no constant and no size.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> boundIterations(graph::WhileOp op);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H
