#include "compiler/expressions/Reversed.h"

#include "mlir/IR/Builders.h"

using namespace llvm;

namespace freestone::expressions {

mlir::Value getReversed(mlir::Value value) {
  auto slice = value.getDefiningOp<graph::SliceOp>();
  if (!slice)
    return {};
  ArrayRef<sym::Expr> shape = graph::getShape(slice.getOperand());
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    sym::Expr start = slice.getStarts()[dim];
    if (slice.getSizes()[dim] != shape[dim] || slice.getSteps()[dim] != (dim == 0 ? -1 : 1) ||
        (dim == 0 ? start != shape[0] - 1 : !start.isConstant(0)))
      return {};
  }
  return shape.empty() ? mlir::Value() : slice.getOperand();
}

mlir::Value makeReversed(mlir::OpBuilder &builder, mlir::Value value) {
  SmallVector<sym::Expr> sizes(graph::getShape(value)),
      starts(sizes.size(), sym::Expr::constant(builder.getContext(), 0));
  SmallVector<int64_t> steps(sizes.size(), 1);
  starts[0] = sizes[0] - 1;
  steps[0] = -1;
  return graph::SliceOp::create(builder, value.getLoc(), value, starts, sizes, steps);
}

} // namespace freestone::expressions
