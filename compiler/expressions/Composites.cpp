// The composites' decompositions. All compute f16 and bf16 in f32.
#include "compiler/expressions/Composites.h"
#include "compiler/expressions/Expressions.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numbers>

using namespace mlir;

namespace freestone::expressions {
namespace {

SmallVector<int64_t> axesFrom(int64_t axis, Tensor x) { return llvm::to_vector(llvm::seq(axis, x.rank())); }

/// lhs [batch…, m, k] times rhs, contracted over its dimension `rhsDim`.
Tensor contractMatrices(Tensor lhs, Tensor rhs, int64_t rhsDim) {
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(lhs.rank() - 2));
  return contract(lhs, rhs, {batch, batch, {lhs.rank() - 1}, {rhsDim}});
}

/// The lowest finite number of a float type.
double lowestOf(Type type) {
  return APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true).convertToDouble();
}

/// The exponentials of distances to a maximum, of which shares are taken: beside their sum, which is at least 1, those
/// that have no normal number may be 0 (`graph.share`). They would slow down what makes and what multiplies them.
Tensor expOfShares(Tensor distances) {
  Tensor power = exp(distances);
  if (power && !power.content())
    if (auto op = power.value().getDefiningOp<graph::UnaryOp>())
      op->setAttr("graph.share", UnitAttr::get(op.getContext()));
  return power;
}

/// The maximum to which the distances of `expOfShares` are measured. Elements that are not a number may not count
/// (`graph.share`): their distances are none either, nor are the sums. Processors have an instruction for that.
Tensor maximumOfShares(Tensor x, int64_t axis) {
  Tensor most = maximum(x, axis);
  if (most && !most.content())
    if (auto op = most.value().getDefiningOp<graph::ReduceOp>())
      op->setAttr("graph.share", UnitAttr::get(op.getContext()));
  return most;
}

/// The softmax of an f32 or wider x whose result is rounded to `narrow`. Rows that are all -inf give 0 if `hides`, else
/// NaN. For f16, exponentials and their sum are rounded to f16: ONNX defines its softmax in that precision and tests it
/// to an ulp. bf16's seven bits would be too few.
Tensor softmaxOf(Tensor x, int64_t axis, Type narrow, bool hides) {
  auto rounded = [&](Tensor value) { return narrow.isF16() ? widen(cast(value, narrow)) : value; };
  Tensor most = maximumOfShares(x, axis);
  // Relative to a finite maximum, -inf has an exponential of 0, and a gradient.
  if (hides)
    most = max(most, lowestOf(x.elementType()));
  Tensor power = rounded(expOfShares(x - repeat(most, x.shape(), axis)));
  Tensor total = rounded(sum(power, axis));
  // Unless all elements are hidden, the sum is at least 1: the maximum's own exponential.
  if (hides)
    total = max(total, 0.5);
  // One division per row.
  return power * repeat(reciprocal(total), x.shape(), axis);
}

/// x over the root of the mean of its squares.
Tensor normalize(Tensor x, ArrayRef<int64_t> axes, double epsilon) {
  return x * repeat(rsqrt(mean(x * x, axes) + epsilon), x.shape(), axes);
}

Tensor build(graph::SoftmaxOp op, Tensor x) { return softmaxOf(widen(x), op.getAxis(), x.elementType(), false); }

Tensor build(graph::LogSoftmaxOp op, Tensor narrow) {
  Tensor x = widen(narrow);
  int64_t axis = op.getAxis();
  Tensor shifted = x - repeat(maximumOfShares(x, axis), x.shape(), axis);
  return shifted - repeat(log(sum(expOfShares(shifted), axis)), x.shape(), axis);
}

Tensor build(graph::LayerNormOp op, Tensor narrow) {
  Tensor x = widen(narrow);
  SmallVector<int64_t> axes = axesFrom(op.getAxis(), x);
  return normalize(x - meanAndRepeat(x, axes), axes, op.getEpsilon().convertToDouble());
}

Tensor build(graph::RmsNormOp op, Tensor narrow) {
  Tensor x = widen(narrow);
  return normalize(x, axesFrom(op.getAxis(), x), op.getEpsilon().convertToDouble());
}

Tensor build(graph::GeluOp op, Tensor narrow) {
  Tensor x = widen(narrow), inner;
  if (op.getKind() == graph::GeluKind::exact)
    inner = erf(x * (1 / std::numbers::sqrt2));
  else
    inner = tanh((x + x * (x * x) * 0.044715) * (std::numbers::sqrt2 * std::numbers::inv_sqrtpi));
  Tensor twice = inner + 1.0;
  return x * 0.5 * twice;
}

Tensor build(graph::AttentionOp op, Tensor narrow) {
  GraphBuilder &builder = narrow.builder();
  auto operand = [&](Value value) { return widen(Tensor(builder, value)); };
  int64_t rank = narrow.rank();
  Tensor scores = contractMatrices(widen(narrow), operand(op.getKey()), rank - 1) * op.getScale().convertToDouble();
  if (double cap = op.getSoftcap().convertToDouble(); cap > 0)
    scores = tanh(scores / cap) * cap;
  auto hide = [&](Tensor visible) { scores = select(visible, scores, -std::numeric_limits<double>::infinity()); };
  if (Value given = op.getMask()) {
    Tensor mask = operand(given);
    if (mask.isBool())
      hide(mask);
    else
      scores = scores + mask;
  }
  if (sym::ExprAttr offset = op.getCausalAttr()) {
    Tensor row = iota(builder, scores.shape(), rank - 2, builder.getI64Type());
    Tensor last = row + offset.getExpr();
    hide(iota(builder, scores.shape(), rank - 1, builder.getI64Type()) <= last);
  }
  Tensor shares = softmaxOf(scores, rank - 1, narrow.elementType(), /*hides=*/true);
  return contractMatrices(shares, operand(op.getValue()), rank - 2);
}

} // namespace

FailureOr<SmallVector<Value>> decompose(Operation *composite, OpBuilder &opBuilder) {
  GraphBuilder builder(composite->getLoc(), opBuilder);
  auto buildOf = [&](auto op) {
    Tensor x(builder, op->getOperand(0));
    return cast(build(op, x), x.elementType());
  };
  Tensor result = llvm::TypeSwitch<Operation *, Tensor>(composite)
                      .Case<graph::SoftmaxOp, graph::LogSoftmaxOp, graph::LayerNormOp, graph::RmsNormOp, graph::GeluOp,
                            graph::AttentionOp>(buildOf)
                      .Default(Tensor());
  if (!result)
    return failure();
  return SmallVector<Value>{result.value()};
}

} // namespace freestone::expressions
