// Operators that choose elements by their order. The choice itself has no gradient.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Values go back to the positions that they came from, which are all different.
template <typename Op> LogicalResult differentiateOrder(Op op, Backward &backward) {
  Tensor x = backward.operand();
  if (Tensor g = backward.gradient(0))
    backward.add(0u, scatterElements(splatLike(0, x), backward.result(1), g, op.getAxis(), ScatterKind::add));
  return success();
}

/// The slice i of the operand is the slice number (conditions up to i) - 1 of the result, where it was taken. A slice
/// of zeros stands before these, for those that were not.
LogicalResult differentiateCompress(graph::CompressOp op, Backward &backward) {
  Tensor x = backward.operand(0), condition = backward.operand(1), g = backward.gradient();
  int64_t axis = op.getAxis();
  Type type = backward.builder.getI64Type();
  Expr zero = x.builder().size(0);
  Tensor taken = pad(cast(condition, type), zero, x.dim(axis) - condition.dim(0), 0);
  Tensor number = cumulate(ReduceKind::add, taken, 0, /*exclusive=*/false, /*reverse=*/false);
  Tensor place = number * taken;
  Shape low(x.rank(), zero), high(x.rank(), zero);
  low[axis] = x.builder().size(1);
  Tensor withZero = pad(g, low, high, 0);
  backward.add(0u, gather(withZero, place, axis));
  return success();
}

} // namespace

void addOrderingRules(RuleTable &table) {
  table.add<graph::TopKOp, differentiateOrder<graph::TopKOp>>();
  table.add<graph::SortOp, differentiateOrder<graph::SortOp>>();
  table.add<graph::CompressOp, differentiateCompress>();
}

} // namespace freestone::grad
