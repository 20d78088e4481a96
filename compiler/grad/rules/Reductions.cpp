// Operators that combine the elements along axes.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// For each element the product of all others along the axes, exact where some are 0.
Tensor multiplyOthers(Tensor x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> order;
  Shape lines;
  Expr length = x.builder().size(1);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!llvm::is_contained(axes, axis)) {
      order.push_back(axis);
      lines.push_back(x.dim(axis));
    }
  for (int64_t axis : axes) {
    order.push_back(axis);
    length = length * x.dim(axis);
  }
  int64_t last = lines.size();
  lines.push_back(length);
  Tensor moved = transpose(x, order), line = reshape(moved, lines);
  Tensor before = cumulate(ReduceKind::mul, line, last, /*exclusive=*/true, /*reverse=*/false);
  Tensor after = cumulate(ReduceKind::mul, line, last, /*exclusive=*/true, /*reverse=*/true);
  return transpose(reshape(before * after, moved.shape()), invert(order));
}

LogicalResult differentiateReduce(graph::ReduceOp op, Backward &backward) {
  Tensor x = backward.operand(), g = repeat(backward.gradient(), x.shape(), op.getAxes());
  switch (op.getKind()) {
  case ReduceKind::add:
    backward.add(0u, g);
    return success();
  case ReduceKind::mul:
    backward.add(0u, g * multiplyOthers(x, op.getAxes()));
    return success();
  case ReduceKind::max:
  case ReduceKind::min: {
    // Ties share the gradient, as in PyTorch's amax and amin.
    Tensor isExtremum = equal(x, repeat(backward.result(), x.shape(), op.getAxes()));
    Tensor share = sumAndRepeat(cast(isExtremum, g.elementType()), op.getAxes());
    backward.add(0u, select(isExtremum, g / share, 0.0));
    return success();
  }
  default:
    return backward.refuse("combines bits, which has no derivative");
  }
}

/// The shape of x with one more dimension of the size of `axis` at the end, and the two coordinates along these.
struct Pairs {
  Pairs(Tensor x, int64_t axis) : shape(x.shape()) {
    shape.push_back(x.dim(axis));
    Type type = x.builder().getI64Type();
    source = iota(x.builder(), shape, axis, type);
    target = iota(x.builder(), shape, x.rank(), type);
  }

  Shape shape;
  /// The place of an element, and the place of a running result.
  Tensor source, target;
};

/// Whether the running result at a target includes the element at a source.
Tensor isWithin(graph::CumulateOp op, const Pairs &pairs) {
  Tensor early = op.getReverse() ? pairs.target : pairs.source, late = op.getReverse() ? pairs.source : pairs.target;
  return op.getExclusive() ? early < late : early <= late;
}

/// A running product, by the derivative of each result for each element: takes n² memory for lines of n, but is exact
/// for zeros.
Tensor differentiateProducts(graph::CumulateOp op, Tensor x, Tensor g) {
  int64_t axis = op.getAxis(), last = x.rank();
  Pairs pairs(x, axis);
  // factors[.., s, .., t]: element t, but 1 for t == s, so that its running product is that of all but s.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(last + 1));
  std::swap(order[axis], order[last]);
  Tensor atTarget = transpose(repeat(x, pairs.shape, last), order);
  Tensor factors = select(equal(pairs.source, pairs.target), 1.0, atTarget);
  Tensor others = cumulate(ReduceKind::mul, factors, last, op.getExclusive(), op.getReverse());
  Tensor incoming = transpose(repeat(g, pairs.shape, last), order);
  return sum(select(isWithin(op, pairs), incoming * others, 0.0), last);
}

/// A running extremum: each result's gradient goes to its first occurrence, as in PyTorch's cummax.
Tensor differentiateExtrema(graph::CumulateOp op, Tensor x, Tensor g) {
  int64_t axis = op.getAxis(), last = x.rank();
  bool isMax = op.getKind() == ReduceKind::max;
  Pairs pairs(x, axis);
  double never = isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  Tensor candidates = select(isWithin(op, pairs), repeat(x, pairs.shape, last), never);
  Tensor arg = argReduce(isMax, candidates, axis, /*lastIndex=*/op.getReverse(), /*keepDims=*/false);
  // The result has lost `axis` and has the targets last; they go where the axis was.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(last - 1));
  order.insert(order.begin() + axis, last - 1);
  Tensor positions = transpose(arg, order);
  if (op.getExclusive()) {
    // What combines nothing has no gradient.
    Tensor place = iota(x.builder(), x.shape(), axis, x.builder().getI64Type());
    Expr first = op.getReverse() ? x.dim(axis) - 1 : x.builder().size(0);
    g = select(equal(place, first), 0.0, g);
  }
  return scatterElements(splatLike(0, x), positions, g, axis, ScatterKind::add);
}

LogicalResult differentiateCumulate(graph::CumulateOp op, Backward &backward) {
  Tensor x = backward.operand(), g = backward.gradient();
  switch (op.getKind()) {
  case ReduceKind::add:
    backward.add(0u, cumulate(ReduceKind::add, g, op.getAxis(), op.getExclusive(), !op.getReverse()));
    return success();
  case ReduceKind::mul:
    backward.add(0u, differentiateProducts(op, x, g));
    return success();
  case ReduceKind::max:
  case ReduceKind::min:
    backward.add(0u, differentiateExtrema(op, x, g));
    return success();
  default:
    return backward.refuse("combines bits, which has no derivative");
  }
}

} // namespace

void addReductionRules(RuleTable &table) {
  table.add<graph::ReduceOp, differentiateReduce>();
  table.add<graph::CumulateOp, differentiateCumulate>();
}

} // namespace freestone::grad
