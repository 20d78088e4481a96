// Operators that move elements.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// A broadcast's gradient is a sum: narrow floats in f32, since there may be many small ones.
LogicalResult differentiateBroadcast(graph::BroadcastOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0; dim < g.rank(); ++dim) {
    const auto *from = llvm::find(op.getDims(), dim);
    if (from == op.getDims().end() || x.dim(from - op.getDims().begin()) != g.dim(dim))
      repeated.push_back(dim);
  }
  backward.add(0u, reshape(cast(sum(repeated.empty() ? g : widen(g), repeated), x.elementType()), x.shape()));
  return success();
}

LogicalResult differentiateReshape(graph::ReshapeOp, Backward &backward) {
  backward.add(0u, reshape(backward.gradient(), backward.operand().shape()));
  return success();
}

LogicalResult differentiateTranspose(graph::TransposeOp op, Backward &backward) {
  backward.add(0u, transpose(backward.gradient(), invert(op.getPermutation())));
  return success();
}

/// Elements that were not taken have the gradient 0.
LogicalResult differentiateSlice(graph::SliceOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  Expr zero = x.builder().size(0);
  Shape low, high;
  SmallVector<int64_t> interior, turned;
  for (auto [axis, start, count, step] : llvm::enumerate(op.getStarts(), op.getSizes(), op.getSteps())) {
    int64_t gap = std::abs(step) - 1;
    Expr first = step > 0 ? start : start + (count - 1) * step;
    // As `graph.pad` counts, so that the sum is the operand's size.
    Expr taken = gap == 0 ? count : Expr::max(count * (gap + 1) - gap, zero);
    low.push_back(first);
    high.push_back(x.dim(axis) - first - taken);
    interior.push_back(gap);
    if (step < 0)
      turned.push_back(axis);
  }
  backward.add(0u, pad(reverse(g, turned), low, high, 0, interior));
  return success();
}

LogicalResult differentiatePad(graph::PadOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  SmallVector<int64_t> steps;
  Shape low, high;
  for (auto [before, after, interior] : llvm::zip_equal(op.getLow(), op.getHigh(), op.getInterior())) {
    low.push_back(-before);
    high.push_back(-after);
    steps.push_back(interior + 1);
  }
  if (backward.wants(op.getOperand())) {
    // Negative padding takes the padding away, and puts zeros where elements were cut off.
    Tensor within = pad(g, low, high, 0);
    if (within.shape() == x.shape() && llvm::all_of(steps, [](int64_t step) { return step == 1; }))
      backward.add(op.getOperand(), within);
    else
      backward.add(op.getOperand(), slice(within, Shape(x.rank(), x.builder().size(0)), x.shape(), steps));
  }
  if (backward.wants(op.getValue())) {
    Tensor isPadding = pad(splatLike(0, x), op.getLow(), op.getHigh(), 1, op.getInterior());
    backward.add(op.getValue(), sum(g * isPadding));
  }
  return success();
}

LogicalResult differentiateConcat(graph::ConcatOp op, Backward &backward) {
  Tensor g = backward.gradient();
  int64_t axis = op.getAxis();
  Shape starts(g.rank(), g.builder().size(0));
  for (Value operand : op.getOperands()) {
    ArrayRef<Expr> sizes = graph::getShape(operand);
    if (backward.wants(operand))
      backward.add(operand, slice(g, starts, sizes, SmallVector<int64_t>(g.rank(), 1)));
    starts[axis] = starts[axis] + sizes[axis];
  }
  return success();
}

/// Sizes agree at this point, but a reshape can't express this for different expressions.
LogicalResult differentiateMatchShape(graph::MatchShapeOp op, Backward &backward) {
  Tensor g = backward.gradient();
  auto renamed = graph::MatchShapeOp::create(backward.builder, op.getOperand().getType(), g.value(), op.getLabelAttr());
  backward.add(0u, backward.tensor(renamed));
  return success();
}

LogicalResult differentiateBarrier(graph::BarrierOp op, Backward &backward) {
  backward.add(op.getOperand(), backward.gradient());
  return success();
}

} // namespace

void addShapeRules(RuleTable &table) {
  table.add<graph::BroadcastOp, differentiateBroadcast>();
  table.add<graph::ReshapeOp, differentiateReshape>();
  table.add<graph::TransposeOp, differentiateTranspose>();
  table.add<graph::SliceOp, differentiateSlice>();
  table.add<graph::PadOp, differentiatePad>();
  table.add<graph::ConcatOp, differentiateConcat>();
  table.add<graph::MatchShapeOp, differentiateMatchShape>();
  table.add<graph::BarrierOp, differentiateBarrier>();
}

} // namespace freestone::grad
