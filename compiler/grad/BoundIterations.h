#ifndef FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H
#define FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// Why a loop without a limit has no gradient, and what to do.
inline constexpr llvm::StringLiteral withoutLimit =
    "it has no gradient, as data decide when it ends, and it may go on for ever; give it a limit that is a constant or "
    "a size (--max-trip), or freeze what comes before it";

/// Why a loop that carries values whose sizes data decide has no gradient, and what to do.
inline constexpr llvm::StringLiteral withDataSizes =
    "it has no gradient, as sizes in it depend on data, and it is not unrolled; give it a limit of at most 64 "
    "iterations in the model, a constant, and no condition that ends it before (--max-trip does not help here), or "
    "freeze what comes before it";

/// Builds a loop that data end, and in which sizes stay, before it, as a scan of all iterations up to its limit: each
/// is a branch, which does nothing once the condition is false. Returns its results. Scans and branches have gradients;
/// memory is that of the limit. Fails with a diagnostic where the limit is no constant and no size.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> boundIterations(graph::WhileOp op);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_BOUNDITERATIONS_H
