#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace mlir {
class Operation;
} // namespace mlir

namespace freestone::graph {

/// Decomposes the composites within `root` into core operators, except those that `keep` (if given) accepts and those
/// without a decomposition. Returns the number of decomposed operators.
int64_t decomposeComposites(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> keep = nullptr);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_DECOMPOSE_H
