#ifndef FREESTONE_COMPILER_TILE_FACTORSUMS_H
#define FREESTONE_COMPILER_TILE_FACTORSUMS_H

#include "compiler/tile/RewriteLoops.h"

namespace freestone::tile {

/// Takes a factor that is equal for all elements of a sum out of it, v·x₁ + v·x₂ = v·(x₁ + x₂), where an earlier
/// compute sums what is left, as in the gradients of a normalization with a scale. Returns the earlier sum times the
/// factor, which replaces the result; fails where there is none.
mlir::FailureOr<mlir::Value> factorSum(mlir::OpBuilder &builder, ComputeOp sum);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_FACTORSUMS_H
