// Windows over the trailing dimensions: pooling.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Every place gives its gradient to the elements of its window: windows of stride 1 over the gradients, spread by the stride.
Tensor spreadSums(graph::WindowOp op, Tensor x, Tensor g) {
  int64_t spatial = op.getSizes().size(), first = x.rank() - spatial;
  Expr zero = constant(x, 0);
  Shape low(x.rank(), zero), high(x.rank(), zero), none(spatial, zero);
  SmallVector<int64_t> interior(x.rank(), 0), ones(spatial, 1);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t axis = first + i, stride = op.getStrides()[i], span = (op.getSizes()[i] - 1) * op.getDilations()[i];
    Expr places = g.dim(axis);
    // As `graph.pad` counts, so that the sum is the operand's size.
    Expr spread = stride == 1 ? places : Expr::max(places * stride - (stride - 1), zero);
    low[axis] = span - op.getLow()[i];
    high[axis] = x.dim(axis) + span - spread - low[axis];
    interior[axis] = stride - 1;
  }
  Tensor apart = pad(g, 0, low, high, interior);
  return Tensor(x.builder(), graph::WindowOp::create(x.builder(), ReduceKind::add, apart.value(), op.getSizes(), ones,
                                                     op.getDilations(), none, none));
}

/// Every place gives its gradient to the first of the largest elements of its window.
Tensor scatterToMaxima(graph::WindowOp op, Tensor x, Tensor g) {
  Tensor positions(x.builder(), graph::WindowArgmaxOp::create(x.builder(), x.value(), op.getSizes(), op.getStrides(),
                                                              op.getDilations(), op.getLow(), op.getHigh()));
  int64_t first = x.rank() - op.getSizes().size();
  auto flatten = [&](Tensor tensor) {
    Shape shape(tensor.shape().take_front(first));
    Expr count = constant(x, 1);
    for (Expr extent : tensor.shape().drop_front(first))
      count = count * extent;
    shape.push_back(count);
    return reshape(tensor, shape);
  };
  Tensor flat = scatterElements(ScatterKind::add, flatten(splatLike(0, x)), flatten(positions), flatten(g), first);
  return reshape(flat, x.shape());
}

LogicalResult differentiateWindow(graph::WindowOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  backward.add(0u, op.getKind() == ReduceKind::add ? spreadSums(op, x, g) : scatterToMaxima(op, x, g));
  return success();
}

} // namespace

void addWindowRules(RuleTable &table) { table.add<graph::WindowOp, differentiateWindow>(); }

} // namespace freestone::grad
