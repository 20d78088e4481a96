// Composites with a better gradient than their decomposition: shorter, or from the result alone.
#include "compiler/grad/Rule.h"
#include <numbers>

using namespace mlir;

namespace freestone::grad {

namespace {

SmallVector<int64_t> getAxesFrom(int64_t axis, Tensor x) { return llvm::to_vector(llvm::seq(axis, x.rank())); }

/// Adds a gradient that was computed in f32 or wider.
LogicalResult addNarrowed(Backward &backward, Tensor gradient) {
  backward.add(0u, cast(gradient, backward.operand().elementType()));
  return success();
}

LogicalResult differentiateSoftmax(graph::SoftmaxOp op, Backward &backward) {
  Tensor y = widen(backward.result()), g = widen(backward.gradient());
  int64_t axis = op.getAxis();
  // A fully masked row is NaN, and masked attention selects against it: its gradient is 0, not 0 * NaN.
  y = select(isNan(y) & equal(g, 0), 0, y);
  return addNarrowed(backward, y * (g - sumAndRepeat(g * y, axis)));
}

LogicalResult differentiateLogSoftmax(graph::LogSoftmaxOp op, Backward &backward) {
  Tensor y = widen(backward.result()), g = widen(backward.gradient());
  int64_t axis = op.getAxis();
  return addNarrowed(backward, g - exp(y) * sumAndRepeat(g, axis));
}

/// 1 / sqrt(mean(x²) + epsilon), everywhere.
Tensor getInverseNorm(Tensor x, ArrayRef<int64_t> axes, double epsilon) {
  return repeat(rsqrt(mean(x * x, axes) + epsilon), x.shape(), axes);
}

LogicalResult differentiateLayerNorm(graph::LayerNormOp op, Backward &backward) {
  Tensor x = widen(backward.operand()), g = widen(backward.gradient());
  SmallVector<int64_t> axes = getAxesFrom(op.getAxis(), x);
  Tensor centred = x - meanAndRepeat(x, axes);
  Tensor scale = getInverseNorm(centred, axes, op.getEpsilon().convertToDouble());
  Tensor y = centred * scale;
  return addNarrowed(backward, scale * (g - meanAndRepeat(g, axes) - y * meanAndRepeat(g * y, axes)));
}

LogicalResult differentiateRmsNorm(graph::RmsNormOp op, Backward &backward) {
  Tensor x = widen(backward.operand()), g = widen(backward.gradient());
  SmallVector<int64_t> axes = getAxesFrom(op.getAxis(), x);
  Tensor scale = getInverseNorm(x, axes, op.getEpsilon().convertToDouble());
  Tensor y = x * scale;
  return addNarrowed(backward, scale * (g - y * meanAndRepeat(g * y, axes)));
}

/// Φ(x) + x φ(x); or the derivative of its approximation x (1 + tanh u) / 2, u = √(2/π) (x + 0.044715 x³).
LogicalResult differentiateGelu(graph::GeluOp op, Backward &backward) {
  Tensor x = widen(backward.operand()), g = widen(backward.gradient());
  if (op.getKind() == graph::GeluKind::exact) {
    Tensor probability = (erf(x * (1 / std::numbers::sqrt2)) + 1.0) * 0.5;
    Tensor density = exp(x * x * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return addNarrowed(backward, g * (probability + x * density));
  }
  double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  Tensor squared = x * x;
  Tensor t = tanh(x * (squared * 0.044715 + 1.0) * scale);
  Tensor slope = (squared * (3 * 0.044715) + 1.0) * scale;
  return addNarrowed(backward, g * ((t + 1.0) * 0.5 + x * (1.0 - t * t) * slope * 0.5));
}

} // namespace

void addCompositeRules(RuleTable &table) {
  table.add<graph::SoftmaxOp, differentiateSoftmax>();
  table.add<graph::LogSoftmaxOp, differentiateLogSoftmax>();
  table.add<graph::LayerNormOp, differentiateLayerNorm>();
  table.add<graph::RmsNormOp, differentiateRmsNorm>();
  table.add<graph::GeluOp, differentiateGelu>();
}

} // namespace freestone::grad
