#ifndef FREESTONE_COMPILER_TILE_HOISTWEIGHTS_H
#define FREESTONE_COMPILER_TILE_HOISTWEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::tile {

/// The function that computes all values that depend on weights alone.
inline constexpr llvm::StringRef initName = "init";

/// The function that makes the states which live weights are kept as.
inline constexpr llvm::StringRef packName = "pack";

/// Of arguments and results, the weight that it is; of arguments of @init, a live one is an input.
inline constexpr llvm::StringRef weightAttr = "graph.weight", inputAttr = "graph.name";

/// Whether a value that depends on weights alone is worth storing instead of being computed in every run.
bool isHoistable(mlir::Value value);

/// Moves computations on weights alone into @init, whose arguments are plain weights and whose results `function` takes
/// as further arguments; `graph.weight` names both sides. All functions of a module share @init and equal results.
/// Returns the number of moved values; without any, there is no @init.
int64_t hoistWeights(mlir::func::FuncOp function);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_HOISTWEIGHTS_H
