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
  registry.add("Sigmoid", {1}, [](Node &node) { return sigmoid(node.input(0)); });
  registry.add("Softplus", {1}, [](Node &node) { return softplus(node.input(0)); });
  registry.add("PRelu", {1}, parametricRelu);
  registry.add("Hardmax", {1}, hardmax);
  registry.add("Softmax", {1}, [](Node &node) { return softmaxOf(node, softmax); });
  registry.add("LogSoftmax", {1}, [](Node &node) { return softmaxOf(node, logSoftmax); });
  registry.add("Softsign", {1}, [](Node &node) {
    Tensor x = node.input(0);
    return x / (1.0 + abs(x));
  });
  registry.add("LeakyRelu", {1}, [](Node &node) {
    Tensor x = node.input(0);
    return select(x > 0.0, x, x * node.real("alpha", 0.01));
  });
  registry.add("Elu", {1}, [](Node &node) { return scaledExponential(node.input(0), node.real("alpha", 1), 1); });
  registry.add("Selu", {1}, [](Node &node) {
    bool old = node.opset() < 6;
    return scaledExponential(node.input(0), node.real("alpha", old ? 1.6732 : 1.67326319217681884765625),
                             node.real("gamma", old ? 1.0507 : 1.05070102214813232421875));
  });
  registry.add("Celu", {12}, [](Node &node) {
    Tensor x = node.input(0);
    double alpha = node.real("alpha", 1);
    return max(x, 0.0) + alpha * unary(UnaryKind::expm1, min(x, 0.0) / alpha);
  });
  registry.add("HardSigmoid", {1}, [](Node &node) {
    return clamp(node.input(0) * node.real("alpha", 0.2) + node.real("beta", 0.5), 0, 1);
  });
  registry.add("HardSwish", {14}, [](Node &node) {
    Tensor x = node.input(0);
    return x * clamp(x + 3.0, 0, 6) / 6.0;
  });
  registry.add("ThresholdedRelu", {10}, [](Node &node) {
    Tensor x = node.input(0);
    return select(x > node.real("alpha", 1), x, 0.0);
  });
  registry.add("Shrink", {9}, [](Node &node) {
    Tensor x = node.input(0);
    double lambda = node.real("lambd", 0.5), bias = node.real("bias", 0);
    return select(x < -lambda, x + bias, select(x > lambda, x - bias, 0.0));
  });
  registry.add("Mish", {18}, [](Node &node) {
    Tensor x = node.input(0);
    return x * tanh(softplus(x));
  });
  registry.add("Swish", {24}, [](Node &node) {
    Tensor x = node.input(0);
    return x * sigmoid(x * node.real("alpha", 1));
  });
  registry.add("Gelu", {20},
               [](Node &node) { return gelu(node.input(0), node.text("approximate", "none") == "tanh"); });
}

} // namespace freestone::importer
