// Normalizations over batches, layers, groups and neighbours.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// A vector over the channels of x, shaped to broadcast with x.
Tensor perChannel(Tensor vector, Tensor x) {
  if (!vector || !x)
    return {};
  if (vector.rank() != 1)
    return x.builder().reject("scale, bias, mean and variance must be vectors");
  Shape shape(x.rank() - 1, x.builder().size(1));
  shape.front() = vector.dim(0);
  return reshape(vector, shape);
}

/// The running statistics of a batch normalization.
struct Statistics {
  Tensor mean, variance;
};

/// The statistics after one more batch. PyTorch keeps the unbiased variance, ONNX the biased one.
Statistics update(Node &node, const Statistics &old, Tensor mean, Tensor variance, Tensor count, bool unbiased) {
  double momentum = node.real("momentum", 0.9);
  if (unbiased)
    variance = variance * (count / max(count - 1.0, 1.0));
  auto blend = [&](Tensor before, Tensor now) {
    return before * momentum + reshape(now, before.shape()) * (1 - momentum);
  };
  return {blend(old.mean, mean), blend(old.variance, variance)};
}

/// Where a statistic comes from: an initializer, which a training step updates; a constant, such as the zeros and ones
/// of a normalization without running statistics; or what the model computes, as of standardized weights.
enum class Origin { Initializer, Constant, Computed };

/// What only moves an initializer is one.
Origin originOf(Tensor statistic) {
  if (!statistic.impl()->weight.empty())
    return Origin::Initializer;
  if (statistic.content())
    return Origin::Constant;
  mlir::Operation *op = statistic.value().getDefiningOp();
  while (isa_and_nonnull<graph::ReshapeOp, graph::CastOp, graph::BroadcastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<graph::WeightOp>(op)     ? Origin::Initializer
         : isa_and_nonnull<graph::ConstantOp>(op) ? Origin::Constant
                                                  : Origin::Computed;
}

/// Normalizes by batch statistics, and updates the running statistics if there are some. With channels first it is a
/// layer normalization, which has a gradient of its own.
void normalizeByBatch(Node &node, Tensor x, Tensor scale, Tensor bias, const Statistics &old, bool areRunning) {
  ModelBuilder &builder = node.builder();
  mlir::Type wide = old.mean.elementType();
  SmallVector<int64_t> channelsFirst = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  std::swap(channelsFirst[0], channelsFirst[1]);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, x.rank()));
  Tensor channels = transpose(cast(x, wide), channelsFirst);
  Expr count = builder.size(1);
  for (int64_t axis : axes)
    count = count * channels.dim(axis);
  // Computed as in the normalization's decomposition, for common subexpressions.
  Tensor counted = builder.integer(count);
  Tensor divisor = cast(broadcast(counted, x.dim(1), {}), wide);
  auto average = [&](Tensor tensor) { return sum(tensor, axes, false) / divisor; };
  Tensor mean = average(channels);
  Tensor centered = channels - broadcast(mean, channels.shape(), {0});
  Tensor variance = average(centered * centered);
  Tensor normal = layerNorm(channels, 1, node.real("epsilon", 1e-5));
  Tensor y = transpose(normal, channelsFirst) * perChannel(cast(scale, wide), x) + perChannel(cast(bias, wide), x);
  node.setOutput(0, cast(y, x.elementType()));
  bool isStep = builder.options.form == ModelForm::Training;
  Tensor number = cast(reshape(builder.vector({count}), {}), wide);
  Statistics next = update(node, old, mean, variance, number, isStep);
  if (node.wants(1))
    node.setOutput(1, next.mean);
  if (node.wants(2))
    node.setOutput(2, next.variance);
  if (!isStep || !areRunning)
    return;
  for (auto [before, after] : {std::pair(old.mean, next.mean), std::pair(old.variance, next.variance)}) {
    if (before.impl()->weight.empty() || builder.statistics.lookup(before.impl()->weight)) {
      node.refuse("the statistics of a batch normalisation must be initializers of its own to be trained; keep them as "
                  "they are "
                  "with --freeze-norm");
      return;
    }
    builder.statistics[before.impl()->weight] = after;
  }
}

/// With fixed statistics a batch normalization is a scale and a shift per channel, computed once.
void batchNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1), bias = node.input(2), mean = node.input(3), variance = node.input(4);
  if (!x || !scale || !bias || !mean || !variance)
    return;
  const ImportOptions &options = node.builder().options;
  bool saysTraining = node.integer("training_mode") != 0 || (node.opset() < 7 && !node.integer("is_test"));
  if (x.rank() < 2) {
    node.reject("the input has no channels");
    return;
  }
  Origin origin = std::min(originOf(mean), originOf(variance));
  bool areRunning = origin == Origin::Initializer || (origin == Origin::Constant && !saysTraining);
  bool isAsWritten = options.form == ModelForm::AsWritten || !areRunning;
  if (isAsWritten ? saysTraining : options.updatesStatistics())
    return normalizeByBatch(node, x, scale, bias, {mean, variance}, areRunning);
  for (Tensor statistic : {mean, variance})
    if (options.keepWeights && !statistic.impl()->weight.empty())
      node.builder().statistics.insert({statistic.impl()->weight, statistic});
  // Statistics may be wider than the data: the arithmetic on them is done in their type.
  mlir::Type wide = mean.elementType();
  Tensor factor = cast(scale, wide) / sqrt(variance + node.real("epsilon", 1e-5));
  Tensor shift = cast(bias, wide) - mean * factor;
  Tensor y = cast(x, wide) * perChannel(factor, x) + perChannel(shift, x);
  node.setOutput(0, cast(y, x.elementType()));
}

Tensor instanceNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1), bias = node.input(2);
  if (!x)
    return x;
  if (x.rank() < 3)
    return node.reject("the input has no spatial dimensions");
  Tensor y = layerNorm(x, 2, node.real("epsilon", 1e-5));
  return y * perChannel(scale, x) + perChannel(bias, x);
}

void layerNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1);
  if (!x || !scale)
    return;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), x.rank());
  if (!axis)
    return;
  double epsilon = node.real("epsilon", 1e-5);
  Tensor y = layerNorm(x, *axis, epsilon) * scale;
  node.setOutput(0, node.has(2) ? y + node.input(2) : y);
  if (!node.wants(1) && !node.wants(2))
    return;
  bool isNarrow = node.integer("stash_type", 1) == 1 && x.elementType().getIntOrFloatBitWidth() < 32;
  Tensor wide = cast(x, isNarrow ? node.builder().getF32Type() : x.elementType());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank()));
  Tensor center = mean(wide, axes, true);
  node.setOutput(1, center);
  node.setOutput(2, rsqrt(mean(square(wide - center), axes, true) + epsilon));
}

Tensor rmsNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1);
  if (!x || !scale)
    return {};
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), x.rank());
  if (!axis)
    return {};
  return cast(rmsNorm(x, *axis, node.real("epsilon", 1e-5)), scale.elementType()) * scale;
}

/// Until operator set 20 scale and bias are per group, then per channel.
Tensor groupNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1), bias = node.input(2);
  int64_t groups = node.integer("num_groups");
  if (!x || !scale || !bias)
    return {};
  if (x.rank() < 2 || groups < 1)
    return node.reject("the input has no channels, or there are no groups");
  ModelBuilder &builder = node.builder();
  std::optional<Expr> perGroup = x.dim(1).exactDiv(builder.size(groups));
  if (!perGroup)
    return node.reject("the number of channels is no multiple of the number of groups");
  Shape split = {x.dim(0), builder.size(groups), *perGroup};
  llvm::append_range(split, x.shape().drop_front(2));
  Tensor y = layerNorm(reshape(x, split), 2, node.real("epsilon", 1e-5));
  if (node.opset() < 21)
    return reshape(y * perChannel(scale, y) + perChannel(bias, y), x.shape());
  return reshape(y, x.shape()) * perChannel(scale, x) + perChannel(bias, x);
}

Tensor meanVarianceNormalization(Node &node) {
  Tensor x = node.input(0);
  SmallVector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  if (!x || !node.normalize(axes, x.rank()))
    return {};
  Tensor centered = x - mean(x, axes, true);
  return centered / (sqrt(mean(square(centered), axes, true)) + 1e-9);
}

/// Each element over a power of the squares of its neighbours in the channel dimension.
Tensor localResponse(Node &node) {
  Tensor x = node.input(0);
  int64_t size = node.integer("size");
  if (!x)
    return x;
  if (x.rank() < 3 || size < 1)
    return node.reject("the input has no spatial dimensions, or the size is not positive");
  ModelBuilder &builder = node.builder();
  Window window;
  window.sizes.assign(x.rank() - 1, 1);
  window.strides = window.dilations = window.sizes;
  window.low.assign(x.rank() - 1, builder.size(0));
  window.high = window.low;
  window.sizes[0] = size;
  window.low[0] = builder.size((size - 1) / 2);
  window.high[0] = builder.size(size / 2);
  Tensor squares = windowReduce(graph::ReduceKind::add, square(x), window);
  double alpha = node.real("alpha", 1e-4), beta = node.real("beta", 0.75), bias = node.real("bias", 1);
  return x / pow(squares * (alpha / double(size)) + bias, beta);
}

} // namespace

void registerNormalization(Registry &registry) {
  registry.addMany("BatchNormalization", {1}, batchNormalization);
  registry.add("InstanceNormalization", {6}, instanceNormalization);
  registry.addMany("LayerNormalization", {17}, layerNormalization);
  registry.add("RMSNormalization", {23}, rmsNormalization);
  registry.add("GroupNormalization", {18}, groupNormalization);
  registry.add("MeanVarianceNormalization", {9}, meanVarianceNormalization);
  registry.add("LRN", {1}, localResponse);
}

} // namespace freestone::importer
