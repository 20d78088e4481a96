#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace mlir {
class Operation;
} // namespace mlir

namespace freestone::graph {

/// Replaces composites within `root` by core operators until none is left that can be and that `keep` (where given)
/// does not hold back. Returns how many were replaced.
int64_t decomposeComposites(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H
