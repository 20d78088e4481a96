#ifndef FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H
#define FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H

#include "compiler/tile/lowering/Lowering.h"

namespace freestone::tile {

/// acc + a * b over the loops of `builder`, in the accumulator type of `result`; a * b without reduction loops. The
/// factors are the operands `left` and `right` of `builder`.
mlir::FailureOr<mlir::Value> sumProducts(ComputeBuilder &builder, unsigned left, unsigned right, mlir::Value lhs,
                                         mlir::Value rhs, mlir::Value result, bool isSummed = true);

/// Rounds sums to the type of the operator's result in a separate compute, reshapes them, and replaces the operator.
/// Fails with a reason where there are no sums.
mlir::LogicalResult replaceByRounded(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                                     mlir::FailureOr<mlir::Value> sums);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_SUMOFPRODUCTS_H
