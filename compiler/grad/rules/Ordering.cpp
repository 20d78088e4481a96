// Operators that choose elements by their order. The choice itself has no gradient.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Values go back to the positions that they came from, which are all different.
template <typename Op> LogicalResult differentiateOrder(Op op, Backward &backward) {
  Tensor x = backward.operand();
  if (Tensor g = backward.gradient(0))
    backward.add(0u, scatterElements(ScatterKind::add, splatLike(0, x), backward.result(1), g, op.getAxis()));
  return success();
}

/// The slice i of the operand is the slice number (conditions up to i) - 1 of the result, where it was taken. A slice
/// of zeros stands before these, for those that were not.
LogicalResult differentiateCompress(graph::CompressOp op, Backward &backward) {
  Tensor x = backward.operand(0), condition = backward.operand(1), g = backward.gradient();
  int64_t axis = op.getAxis();
  Type type = backward.builder.getI64Type();
  Expr zero = constant(x, 0);
  Tensor taken = pad(cast(condition, type), 0, zero, x.dim(axis) - condition.dim(0), 0);
  Tensor number = cumulate(ReduceKind::add, taken, 0, /*exclusive=*/false, /*reverse=*/false);
  Tensor place = number * taken;
  Shape low(x.rank(), zero), high(x.rank(), zero);
  low[axis] = constant(x, 1);
  Tensor withZero = pad(g, 0, low, high, SmallVector<int64_t>(x.rank(), 0));
  backward.add(0u, Tensor(backward.builder, graph::GatherOp::create(backward.builder, withZero.value(), place.value(),
                                                                    static_cast<uint64_t>(axis), 0)));
  return success();
}

} // namespace

void addOrderingRules(RuleTable &table) {
  table.add<graph::TopKOp, differentiateOrder<graph::TopKOp>>();
  table.add<graph::SortOp, differentiateOrder<graph::SortOp>>();
  table.add<graph::CompressOp, differentiateCompress>();
}

} // namespace freestone::grad
