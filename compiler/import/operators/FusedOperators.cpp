// Operators that ONNX Runtime's optimizer writes for several of ONNX's.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/FusedActivation.h"

using namespace llvm;

namespace freestone::importer {

Tensor activate(Node &node, Tensor x) {
  std::string name = node.text("activation", "");
  SmallVector<double> stated = node.reals("activation_params");
  auto number = [&](size_t index, StringRef attribute, double otherwise) {
    return index < stated.size() ? stated[index] : node.real(attribute, otherwise);
  };
  if (!x || name.empty())
    return x;
  if (name == "Relu")
    return relu(x);
  if (name == "Sigmoid")
    return sigmoid(x);
  if (name == "Tanh")
    return tanh(x);
  if (name == "LeakyRelu")
    return select(x > 0.0, x, x * number(0, "activation_alpha", 0.01));
  if (name == "Clip")
    return clamp(x, number(0, "activation_alpha", -INFINITY), number(1, "activation_beta", INFINITY));
  if (name == "HardSigmoid")
    return clamp(x * number(0, "activation_alpha", 0.2) + number(1, "activation_beta", 0.5), 0, 1);
  return node.refuse("the activation '" + name + "' is not supported");
}

namespace {

Tensor sumOfInputs(Node &node, Tensor x, int64_t other) { return node.has(other) && x ? x + node.input(other) : x; }

/// A function that computes f16 and bf16 in f32.
Tensor inWide(Tensor x, function_ref<Tensor(Tensor)> function) {
  return x ? cast(function(widen(x)), x.elementType()) : x;
}

/// With the batch transposed, the first dimension comes behind those of the batch.
Tensor operandOf(Node &node, int64_t index, StringRef transposed, StringRef transposedBatch) {
  Tensor x = node.input(index);
  if (!x || x.rank() < 2)
    return x;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  if (node.integer(transposedBatch))
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (node.integer(transposed))
    std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return llvm::is_sorted(order) ? x : transpose(x, order);
}

Tensor fusedMatmul(Node &node) {
  Tensor product = matmul(operandOf(node, 0, "transA", "transBatchA"), operandOf(node, 1, "transB", "transBatchB"));
  double alpha = node.real("alpha", 1);
  return product && alpha != 1 ? product * alpha : product;
}

Tensor layerNormOf(Node &node, Tensor x, Tensor scale, Tensor shift, double epsilon) {
  Tensor y = layerNorm(x, x.rank() - 1, epsilon) * scale;
  return shift ? y + shift : y;
}

/// The sum of input, skip and bias, and its normalization.
void skipNormalization(Node &node, bool isSimplified) {
  Tensor x = sumOfInputs(node, node.input(0), 1), scale = node.input(2);
  x = sumOfInputs(node, x, isSimplified ? 3 : 4);
  Tensor shift = isSimplified ? Tensor() : node.optionalInput(3);
  if (!x || !scale || (!isSimplified && node.has(3) && !shift))
    return;
  if (x.rank() < 2) {
    node.reject("the input must have the shape [batch, length, features]");
    return;
  }
  double epsilon = node.real("epsilon", isSimplified ? 1e-6 : 1e-12);
  node.setOutput(0, isSimplified ? rmsNorm(x, x.rank() - 1, epsilon) * scale
                                 : layerNormOf(node, x, scale, shift, epsilon));
  if (node.wants(1) || node.wants(2)) {
    Tensor wide = widen(x), center = mean(wide, {x.rank() - 1}, true);
    Tensor spread =
        isSimplified ? mean(square(wide), {x.rank() - 1}, true) : mean(square(wide - center), {x.rank() - 1}, true);
    node.setOutput(1, center);
    node.setOutput(2, rsqrt(spread + epsilon));
  }
  node.setOutput(3, x);
}

void simplifiedNormalization(Node &node) {
  Tensor x = node.input(0), scale = node.input(1);
  std::optional<int64_t> axis = x && scale ? node.normalize(node.integer("axis", -1), x.rank()) : std::nullopt;
  if (!axis)
    return;
  double epsilon = node.real("epsilon", 1e-5);
  node.setOutput(0, cast(rmsNorm(x, *axis, epsilon), scale.elementType()) * scale);
  if (node.wants(1))
    node.setOutput(1, rsqrt(mean(square(widen(x)), llvm::to_vector(seq<int64_t>(*axis, x.rank())), true) + epsilon));
}

/// Embeddings of words, of positions and, where there are some, of segments, added and normalized.
void embedNormalization(Node &node) {
  Tensor words = node.input(0), segments = node.optionalInput(1), wordTable = node.input(2),
         positionTable = node.input(3), segmentTable = node.optionalInput(4), scale = node.input(5),
         shift = node.input(6), mask = node.optionalInput(7), positions = node.optionalInput(8);
  if (!words || !wordTable || !positionTable || !scale || !shift)
    return;
  if (words.rank() != 2 || (segments && !segmentTable)) {
    node.reject("words must have the shape [batch, length], and segments a table");
    return;
  }
  ModelBuilder &builder = node.builder();
  if (!positions)
    positions = iota(builder, {words.dim(1)}, 0, builder.getI64Type());
  Tensor sum = gather(wordTable, words, 0) + gather(positionTable, positions, 0);
  if (segments)
    sum = sum + gather(segmentTable, segments, 0);
  if (!sum)
    return;
  node.setOutput(0, layerNormOf(node, sum, scale, shift, node.real("epsilon", 1e-12)));
  mlir::Type i32 = builder.getI32Type();
  if (node.wants(1))
    node.setOutput(1, mask ? reduce(ReduceKind::add, cast(mask, i32), {1}) : builder.splat(0, i32, {words.dim(0)}));
  node.setOutput(2, sum);
}

} // namespace

void registerFusedOperators(Registry &registry) {
  auto add = [&](StringRef name, Entry::BuildOne build) {
    registry.add(("com.microsoft." + name).str(), {1}, std::move(build));
  };
  add("Gelu", [](Node &node) { return gelu(node.input(0), false); });
  add("BiasGelu", [](Node &node) { return gelu(sumOfInputs(node, node.input(0), 1), false); });
  add("FastGelu", [](Node &node) { return gelu(sumOfInputs(node, node.input(0), 1), true); });
  add("QuickGelu", [](Node &node) {
    return inWide(node.input(0), [&](Tensor x) { return x * sigmoid(x * node.real("alpha", 1.702)); });
  });
  add("FusedMatMul", fusedMatmul);
  add("TransposeMatMul", fusedMatmul);
  registry.addMany("com.microsoft.SkipLayerNormalization", {1}, [](Node &node) { skipNormalization(node, false); });
  registry.addMany("com.microsoft.SkipSimplifiedLayerNormalization", {1},
                   [](Node &node) { skipNormalization(node, true); });
  registry.addMany("com.microsoft.EmbedLayerNormalization", {1}, embedNormalization);
  // It has a place in ONNX's own domain, but no definition there.
  registry.addMany("SimplifiedLayerNormalization", {1}, simplifiedNormalization);
}

} // namespace freestone::importer
