#include "compiler/grad/Losses.h"
#include "compiler/expressions/Expressions.h"

using namespace mlir;

namespace freestone::grad {

using namespace expressions;

namespace {

int64_t normalize(int64_t axis, Tensor x) { return axis < 0 ? axis + x.rank() : axis; }

/// The number of elements, as a float.
Tensor countOf(Tensor x, Type type) { return x.builder().scalar(x.elementCount(), type); }

Loss makeLoss(Tensor elements) { return {sum(elements).value(), countOf(elements, elements.elementType()).value()}; }

/// The loss of log-probabilities, in f32 at least. Classes are compared with the label instead of gathered, so that
/// loss and gradient stay elementwise and fuse with the softmax.
Loss buildClassLoss(Tensor logs, Tensor givenLabels, const ClassLossOptions &options) {
  GraphBuilder &builder = logs.builder();
  int64_t axis = normalize(options.classAxis, logs);
  Type index = builder.getI64Type(), type = logs.elementType();
  Tensor labels = cast(givenLabels, index), classes = builder.integer(logs.dim(axis));
  Tensor isLabel = equal(iota(builder, logs.shape(), axis, index), repeat(labels, logs.shape(), axis));
  Tensor counts = notEqual(labels, static_cast<double>(options.ignoreIndex));

  Tensor weights, weighted = logs;
  if (options.classWeights) {
    weights = broadcast(cast(Tensor(builder, options.classWeights), type), logs.shape(), axis);
    weighted = logs * weights;
  }
  Tensor elements = -sum(select(isLabel, weighted, 0.0), axis);
  if (options.labelSmoothing != 0) {
    Tensor spread = sum(weighted, axis) / cast(classes, type);
    elements = elements * (1 - options.labelSmoothing) - spread * options.labelSmoothing;
  }
  Tensor isClass = (labels >= 0.0) & (labels < classes);
  elements = select(isClass, elements, std::numeric_limits<double>::quiet_NaN());
  Tensor weight = weights ? sum(select(isLabel, weights, 0.0), axis) : splatLike(1, elements);
  return {sum(select(counts, elements, 0.0)).value(), sum(select(counts, weight, 0.0)).value()};
}

/// max(x, 0) + log1p(exp(-|x|)): the form that differentiation recognizes.
Tensor softplus(Tensor x) { return max(x, 0.0) + log1p(exp(-abs(x))); }

/// Predictions in f32 at least, and targets in the same type.
struct Pair {
  Pair(GraphBuilder &builder, Value predictions, Value targets)
      : prediction(widen(Tensor(builder, predictions))),
        target(cast(Tensor(builder, targets), prediction.elementType())) {}

  Tensor prediction, target;
};

} // namespace

Loss buildSoftmaxCrossEntropy(OpBuilder &opBuilder, Location location, Value logits, Value labels,
                              const ClassLossOptions &options) {
  GraphBuilder builder(location, opBuilder);
  Tensor x = widen(Tensor(builder, logits));
  return buildClassLoss(logSoftmax(x, normalize(options.classAxis, x)), Tensor(builder, labels), options);
}

Loss buildNegativeLogLikelihood(OpBuilder &opBuilder, Location location, Value logProbabilities, Value labels,
                                const ClassLossOptions &options) {
  GraphBuilder builder(location, opBuilder);
  return buildClassLoss(widen(Tensor(builder, logProbabilities)), Tensor(builder, labels), options);
}

Loss buildSigmoidCrossEntropy(OpBuilder &opBuilder, Location location, Value logits, Value targets,
                              Value positiveWeight) {
  GraphBuilder builder(location, opBuilder);
  auto [x, target] = Pair(builder, logits, targets);
  Tensor negative = softplus(-x);
  if (positiveWeight) {
    Tensor weight = cast(Tensor(builder, positiveWeight), x.elementType());
    if (weight.rank() == 1)
      weight = broadcast(weight, x.shape(), x.rank() - 1);
    negative = ((weight - 1.0) * target + 1.0) * negative;
  }
  return makeLoss((1.0 - target) * x + negative);
}

Loss buildMeanSquaredError(OpBuilder &opBuilder, Location location, Value predictions, Value targets) {
  GraphBuilder builder(location, opBuilder);
  auto [x, target] = Pair(builder, predictions, targets);
  return makeLoss(square(x - target));
}

Loss buildL1(OpBuilder &opBuilder, Location location, Value predictions, Value targets) {
  GraphBuilder builder(location, opBuilder);
  auto [x, target] = Pair(builder, predictions, targets);
  return makeLoss(abs(x - target));
}

Loss buildHuber(OpBuilder &opBuilder, Location location, Value predictions, Value targets, double delta) {
  GraphBuilder builder(location, opBuilder);
  auto [x, target] = Pair(builder, predictions, targets);
  Tensor difference = x - target, distance = abs(difference);
  return makeLoss(select(distance <= delta, square(difference) * 0.5, (distance - delta / 2) * delta));
}

Loss buildCosine(OpBuilder &opBuilder, Location location, Value predictions, Value targets, int64_t givenAxis) {
  GraphBuilder builder(location, opBuilder);
  auto [x, target] = Pair(builder, predictions, targets);
  int64_t axis = normalize(givenAxis, x);
  Tensor norms = (sum(x * x, axis) + 1e-12) * (sum(target * target, axis) + 1e-12);
  return makeLoss(1.0 - sum(x * target, axis) / sqrt(norms));
}

Value buildMean(OpBuilder &opBuilder, Location location, const Loss &loss) {
  GraphBuilder builder(location, opBuilder);
  return (Tensor(builder, loss.sum) / Tensor(builder, loss.count)).value();
}

} // namespace freestone::grad
