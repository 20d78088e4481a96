#ifndef FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H
#define FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::grad {

/// Computes the products of a function of the graph level in `narrow`, f16 or bf16, as well as the operators between
/// them, by the table in docs/training.md. Products are summed in f32. Weights, arguments and results keep their types:
/// a weight is rounded where a product reads it, so that its gradient, by differentiating the result of this pass, is
/// f32 again.
///
/// Only f32 is made narrow, and only operators of the function's own block: regions and callees are unchanged. Returns
/// the number of narrow products.
int64_t lowerPrecision(mlir::func::FuncOp function, mlir::FloatType narrow);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_MIXEDPRECISION_H
