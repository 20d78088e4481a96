#ifndef FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H
#define FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::grad {

/// Computes the products of a function of the graph level in `narrow`, f16 or bf16, and what lies between them too; by
/// the table in docs/training.md. Sums of products are of f32. Weights, arguments and results keep their types: a
/// weight is rounded where a product takes it, so that its gradient, by differentiation of what this leaves, is of f32
/// again.
///
/// Only f32 is made narrow, and only operators of the function's own block: regions and callees stay as they are.
/// Returns how many products were made narrow.
int64_t lowerPrecision(mlir::func::FuncOp function, mlir::FloatType narrow);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H
