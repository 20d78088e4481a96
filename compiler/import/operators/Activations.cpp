// Activation functions. Several have an ONNX body too; here they keep their precision for large arguments.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Tensor softplus(Tensor x) { return max(x, 0.0) + log1p(exp(-abs(x))); }

Tensor scaledExponential(Tensor x, double alpha, double gamma) {
  return gamma * select(x > 0.0, x, alpha * unary(UnaryKind::expm1, min(x, 0.0)));
}

Tensor parametricRelu(Node &node) {
  Tensor x = node.input(0), slope = node.input(1);
  // Before operator set 7 one slope per channel could stand without its trailing dimensions.
  if (x && slope && node.opset() < 7 && slope.rank() == 1 && x.rank() > 2) {
    Shape shape(slope.shape());
    shape.append(x.rank() - 2, node.builder().size(1));
    slope = reshape(slope, shape);
  }
  return select(x < 0.0, x * slope, x);
}

/// A function of its input that computes f16 and bf16 in f32, and rounds once.
void addRounded(Registry &registry, StringRef name, Versions versions, Tensor (*function)(Node &, Tensor)) {
  registry.add(name, versions, [=](Node &node) {
    Tensor x = node.input(0);
    return x ? cast(function(node, widen(x)), x.elementType()) : x;
  });
}

/// Like a softmax that is 1 at the (first) maximum and 0 elsewhere.
Tensor hardmax(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", node.opset() < 13 ? 1 : -1), x.rank());
  if (!axis)
    return {};
  ModelBuilder &builder = node.builder();
  Shape shape(x.shape());
  if (node.opset() < 13) {
    Expr rows = builder.size(1), columns = builder.size(1);
    for (auto [index, extent] : enumerate(shape))
      (int64_t(index) < *axis ? rows : columns) = (int64_t(index) < *axis ? rows : columns) * extent;
    x = reshape(x, {rows, columns});
    axis = 1;
  }
  Tensor largest = argReduce(/*largest=*/true, x, *axis, /*lastIndex=*/false, /*keepDims=*/true);
  Tensor position = x ? iota(builder, x.shape(), *axis, builder.getI64Type()) : x;
  return reshape(cast(equal(position, largest), x.elementType()), shape);
}

/// Until operator set 12 everything from `axis` on is one dimension.
Tensor softmaxOf(Node &node, Tensor (*function)(Tensor, int64_t)) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  bool flattens = node.opset() < 13;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", flattens ? 1 : -1), std::max<int64_t>(x.rank(), 1));
  if (!axis || x.rank() == 0)
    return axis ? node.reject("the input is a scalar") : Tensor();
  if (!flattens || *axis == x.rank() - 1)
    return function(x, *axis);
  Shape shape(x.shape()), rows(shape.begin(), shape.begin() + *axis);
  Expr row = node.builder().size(1);
  for (Expr extent : drop_begin(shape, *axis))
    row = row * extent;
  rows.push_back(row);
  return reshape(function(reshape(x, rows), *axis), shape);
}

} // namespace

void registerActivations(Registry &registry) {
  registry.add("Relu", {1}, [](Node &node) { return relu(node.input(0)); });
  addRounded(registry, "Sigmoid", {1}, [](Node &, Tensor x) { return sigmoid(x); });
  addRounded(registry, "Softplus", {1}, [](Node &, Tensor x) { return softplus(x); });
  registry.add("PRelu", {1}, parametricRelu);
  registry.add("Hardmax", {1}, hardmax);
  registry.add("Softmax", {1}, [](Node &node) { return softmaxOf(node, softmax); });
  registry.add("LogSoftmax", {1}, [](Node &node) { return softmaxOf(node, logSoftmax); });
  addRounded(registry, "Softsign", {1}, [](Node &, Tensor x) { return x / (1.0 + abs(x)); });
  registry.add("LeakyRelu", {1}, [](Node &node) {
    Tensor x = node.input(0);
    return select(x > 0.0, x, x * node.real("alpha", 0.01));
  });
  addRounded(registry, "Elu", {1}, [](Node &node, Tensor x) { return scaledExponential(x, node.real("alpha", 1), 1); });
  addRounded(registry, "Selu", {1}, [](Node &node, Tensor x) {
    bool old = node.opset() < 6;
    return scaledExponential(x, node.real("alpha", old ? 1.6732 : 1.67326319217681884765625),
                             node.real("gamma", old ? 1.0507 : 1.05070102214813232421875));
  });
  addRounded(registry, "Celu", {12}, [](Node &node, Tensor x) {
    double alpha = node.real("alpha", 1);
    return max(x, 0.0) + alpha * unary(UnaryKind::expm1, min(x, 0.0) / alpha);
  });
  addRounded(registry, "HardSigmoid", {1},
             [](Node &node, Tensor x) { return clamp(x * node.real("alpha", 0.2) + node.real("beta", 0.5), 0, 1); });
  addRounded(registry, "HardSwish", {14}, [](Node &, Tensor x) { return x * clamp(x + 3.0, 0, 6) / 6.0; });
  registry.add("ThresholdedRelu", {10}, [](Node &node) {
    Tensor x = node.input(0);
    return select(x > node.real("alpha", 1), x, 0.0);
  });
  registry.add("Shrink", {9}, [](Node &node) {
    Tensor x = node.input(0);
    double lambda = node.real("lambd", 0.5), bias = node.real("bias", 0);
    return select(x < -lambda, x + bias, select(x > lambda, x - bias, 0.0));
  });
  addRounded(registry, "Mish", {18}, [](Node &, Tensor x) { return x * tanh(softplus(x)); });
  addRounded(registry, "Swish", {24}, [](Node &node, Tensor x) { return x * sigmoid(x * node.real("alpha", 1)); });
  registry.add("Gelu", {20},
               [](Node &node) { return gelu(node.input(0), node.text("approximate", "none") == "tanh"); });
}

} // namespace freestone::importer
