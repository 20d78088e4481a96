// Windows over the trailing dimensions: pooling.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Every window's gradient goes to all of its elements: a sum over windows of stride 1 over the gradients, dilated by
/// the stride.
Tensor spreadSums(graph::WindowOp op, Tensor x, Tensor g) {
  int64_t spatial = op.getSizes().size(), first = x.rank() - spatial;
  Expr zero = x.builder().size(0);
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
  Tensor apart = pad(g, low, high, 0, interior);
  Window window{llvm::to_vector(op.getSizes()), ones, llvm::to_vector(op.getDilations()), none, none};
  return windowReduce(ReduceKind::add, apart, window);
}

/// The position of the first maximum of each window, in the row-major order of the trailing dimensions; -1 if a window
/// is all padding.
Tensor findMaxima(graph::WindowOp op, Tensor x) {
  return windowArgmax(x, {llvm::to_vector(op.getSizes()), llvm::to_vector(op.getStrides()),
                          llvm::to_vector(op.getDilations()), Shape(op.getLow()), Shape(op.getHigh())});
}

/// Every window's gradient goes to its maximum, which windows may share.
Tensor scatterToMaxima(graph::WindowOp op, Tensor x, Tensor g) {
  Tensor positions = findMaxima(op, x);
  int64_t first = x.rank() - op.getSizes().size();
  auto flatten = [&](Tensor tensor) {
    Shape shape(tensor.shape().take_front(first));
    Expr count = x.builder().size(1);
    for (Expr extent : tensor.shape().drop_front(first))
      count = count * extent;
    shape.push_back(count);
    return reshape(tensor, shape);
  };
  Tensor share = select(positions >= 0.0, g, 0.0);
  Tensor flat =
      scatterElements(flatten(splatLike(0, x)), flatten(max(positions, 0.0)), flatten(share), first, ScatterKind::add);
  return reshape(flat, x.shape());
}

/// Whether the windows are disjoint, so that each element is in at most one.
bool isPartition(graph::WindowOp op) {
  return op.getSizes() == op.getStrides() &&
         llvm::all_of(op.getDilations(), [](int64_t dilation) { return dilation == 1; });
}

/// For each element of x, the value of its window, for disjoint windows; `outside` if it is in none.
Tensor repeatInWindows(graph::WindowOp op, Tensor x, Tensor places, double outside) {
  int64_t spatial = op.getSizes().size(), first = x.rank() - spatial;
  Expr zero = x.builder().size(0);
  Shape apart(places.shape().take_front(first)), joined(apart), low(x.rank(), zero), high(x.rank(), zero);
  SmallVector<int64_t> within;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t size = op.getSizes()[i];
    Expr covered = places.dim(first + i) * size;
    within.push_back(apart.size() + 1);
    llvm::append_values(apart, places.dim(first + i), x.builder().size(size));
    joined.push_back(covered);
    low[first + i] = -op.getLow()[i];
    high[first + i] = x.dim(first + i) + op.getLow()[i] - covered;
  }
  return pad(reshape(repeat(places, apart, within), joined), low, high, outside);
}

/// Every element takes the gradient of its window if it is the maximum: no scatter.
Tensor takeAtMaxima(graph::WindowOp op, Tensor x, Tensor g) {
  GraphBuilder &builder = x.builder();
  Type index = builder.getI64Type();
  int64_t first = x.rank() - op.getSizes().size();
  Tensor here = iota(builder, x.shape(), first, index);
  for (int64_t axis = first + 1; axis < x.rank(); ++axis)
    here = here * x.dim(axis) + iota(builder, x.shape(), axis, index);
  Tensor maximum = repeatInWindows(op, x, findMaxima(op, x), -1);
  return select(equal(maximum, here), repeatInWindows(op, x, g, 0), 0.0);
}

LogicalResult differentiateWindow(graph::WindowOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  if (op.getKind() == ReduceKind::add)
    backward.add(0u, spreadSums(op, x, g));
  else
    backward.add(0u, isPartition(op) ? takeAtMaxima(op, x, g) : scatterToMaxima(op, x, g));
  return success();
}

} // namespace

void addWindowRules(RuleTable &table) { table.add<graph::WindowOp, differentiateWindow>(); }

} // namespace freestone::grad
