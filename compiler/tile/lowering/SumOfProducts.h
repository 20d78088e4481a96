#ifndef FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H
#define FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H

#include "compiler/tile/lowering/Lowering.h"

namespace freestone::tile {

/// acc + a * b over the loops of `builder`, in the accumulator type of `result`; a * b where nothing is summed. The
/// factors are the operands that `builder` reads as `left` and `right`.
mlir::FailureOr<mlir::Value> sumProducts(ComputeBuilder &builder, unsigned left, unsigned right, mlir::Value lhs,
                                         mlir::Value rhs, mlir::Value result, bool isSummed = true);

/// Rounds sums to the type of the operator's result in a compute of its own, gives them its shape, and replaces it.
/// Fails with a reason where there are none.
mlir::LogicalResult replaceByRounded(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                                     mlir::FailureOr<mlir::Value> sums);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H
