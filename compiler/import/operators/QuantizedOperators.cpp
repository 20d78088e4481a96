// Operators of ONNX Runtime on quantised tensors. Products of matrices are integer products; what is elementwise is
// computed with the numbers that the integers stand for, in f32.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/Pooling.h"
#include "compiler/import/operators/QuantizedValues.h"
#include "compiler/import/operators/ZeroPoints.h"

using namespace llvm;

namespace freestone::importer {

static Tensor asOne(Tensor parameter) {
  return parameter && parameter.elementCount().isConstant(1) ? reshape(parameter, {}) : parameter;
}

Tensor QuantizedValue::real() const {
  mlir::Type f32 = integers.builder().getF32Type();
  Tensor x = cast(integers, f32);
  if (zeroPoint)
    x = x - cast(zeroPoint, f32);
  return x * cast(scale, f32);
}

std::optional<QuantizedValue> quantizedInput(Node &node, int64_t index) {
  QuantizedValue value{node.input(index), asOne(node.input(index + 1)), asOne(node.optionalInput(index + 2))};
  bool isBuilt = value.integers && value.scale && (value.zeroPoint || !node.has(index + 2));
  return isBuilt ? std::optional(value) : std::nullopt;
}

Tensor quantizeAs(Node &node, Tensor x, int64_t index, mlir::Type type) {
  Tensor scale = asOne(node.input(index)), zeroPoint = asOne(node.optionalInput(index + 1));
  if (!x || !scale || (node.has(index + 1) && !zeroPoint))
    return {};
  return quantize(x, cast(scale, x.elementType()), zeroPoint, type);
}

namespace {

/// A function of one quantised tensor: inputs x and y's parameters.
Entry::BuildOne onReals(Tensor (*function)(Node &, Tensor)) {
  return [=](Node &node) -> Tensor {
    std::optional<QuantizedValue> x = quantizedInput(node, 0);
    return x ? quantizeAs(node, function(node, x->real()), 3, x->integers.elementType()) : Tensor();
  };
}

/// A function of two quantised tensors.
Entry::BuildOne onPairs(Tensor (*function)(Tensor, Tensor)) {
  return [=](Node &node) -> Tensor {
    std::optional<QuantizedValue> a = quantizedInput(node, 0), b = a ? quantizedInput(node, 3) : std::nullopt;
    return b ? quantizeAs(node, function(a->real(), b->real()), 6, a->integers.elementType()) : Tensor();
  };
}

/// The result's parameters come first, then triples of the tensors.
Tensor concatQuantized(Node &node) {
  Tensor zeroPoint = node.input(1);
  SmallVector<Tensor> parts;
  for (int64_t index = 2; index < node.inputCount(); index += 3) {
    std::optional<QuantizedValue> part = quantizedInput(node, index);
    if (!part)
      return {};
    parts.push_back(part->real());
  }
  if (!zeroPoint || parts.empty())
    return parts.empty() ? node.reject("there is nothing to concatenate") : Tensor();
  std::optional<int64_t> axis = node.normalize(node.integer("axis"), parts.front().rank());
  return axis ? quantizeAs(node, concat(parts, *axis), 0, zeroPoint.elementType()) : Tensor();
}

/// Poolings over channels in the second dimension, or in the last one.
Tensor pooled(Node &node, Tensor x, function_ref<Tensor(Tensor)> pool) {
  if (!node.integer("channels_last"))
    return pool(x);
  if (x.rank() < 3)
    return node.reject("the input has no spatial dimensions");
  SmallVector<int64_t> first = {0, x.rank() - 1};
  append_range(first, seq<int64_t>(1, x.rank() - 1));
  Tensor y = pool(transpose(x, first));
  return y ? transpose(y, invert(first)) : y;
}

Tensor averagePoolReal(Node &node, Tensor x) {
  return pooled(node, x, [&](Tensor x) { return averagePool(node, x); });
}

Tensor globalAveragePoolReal(Node &node, Tensor x) {
  return pooled(node, x, [&](Tensor x) -> Tensor {
    if (x.rank() < 3)
      return node.reject("the input has no spatial dimensions");
    return mean(x, llvm::to_vector(seq<int64_t>(2, x.rank())), true);
  });
}

Tensor reduceMeanReal(Node &node, Tensor x) {
  SmallVector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = allAxes(x);
  return node.normalize(axes, x.rank()) ? mean(x, axes, node.integer("keepdims", 1)) : Tensor();
}

Tensor softmaxReal(Node &node, Tensor x) {
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), x.rank());
  return axis ? softmax(x, *axis) : Tensor();
}

/// The product of matrices, quantised or, without the result's scale, in f32.
Tensor gemmQuantized(Node &node) {
  std::optional<QuantizedValue> a = quantizedInput(node, 0), b = a ? quantizedInput(node, 3) : std::nullopt;
  if (!b)
    return {};
  if (a->integers.rank() != 2 || b->integers.rank() != 2)
    return node.reject("A and B must be matrices");
  ModelBuilder &builder = node.builder();
  mlir::Type f32 = builder.getF32Type();
  Tensor left = node.integer("transA") ? transpose(a->integers, {1, 0}) : a->integers;
  Tensor right = node.integer("transB") ? transpose(b->integers, {1, 0}) : b->integers;
  Tensor product = multiplyCentered(node, left, a->zeroPoint, right, b->zeroPoint);
  if (node.has(6)) {
    Tensor bias = node.input(6);
    product = product + (bias ? cast(bias, builder.getI32Type()) : bias);
  }
  Tensor y = cast(product, f32) * (cast(a->scale, f32) * cast(b->scale, f32)) * node.real("alpha", 1);
  return node.has(7) ? quantizeAs(node, y, 7, node.has(8) ? node.input(8).elementType() : a->integers.elementType())
                     : y;
}

Tensor plusInput(Node &node, Tensor y, int64_t index) { return node.has(index) && y ? y + node.input(index) : y; }

/// Integer matrices with scales, as floats: A, B, their scales, their zero points, and a bias.
Tensor matmulToFloat(Node &node) {
  Tensor a = node.input(0), b = node.input(1), scaleA = asOne(node.input(2)), scaleB = asOne(node.input(3));
  if (!a || !b || !scaleA || !scaleB)
    return {};
  Tensor product = multiplyCentered(node, a, node.optionalInput(4), b, node.optionalInput(5));
  return plusInput(node, cast(product, scaleA.elementType()) * scaleA * scaleB, 6);
}

/// A is quantised at run time, from its range to that of u8.
Tensor dynamicMatmul(Node &node) {
  Tensor a = node.input(0), b = node.input(1), scaleB = asOne(node.input(2));
  if (!a || !b || !scaleB)
    return {};
  ModelBuilder &builder = node.builder();
  mlir::Type byte = builder.getIntegerType(8, /*isSigned=*/false), f32 = builder.getF32Type();
  Tensor greatest = max(reduce(ReduceKind::max, a, allAxes(a)), 0.0),
         least = min(reduce(ReduceKind::min, a, allAxes(a)), 0.0);
  Tensor scale = (greatest - least) / 255.0;
  scale = select(equal(scale, 0.0), 1.0, scale);
  Tensor zeroPoint = saturatingCast(round(clamp(-least / scale, 0, 255)), byte);
  Tensor product = multiplyCentered(node, quantize(a, scale, zeroPoint, byte), zeroPoint, b, node.optionalInput(3));
  return plusInput(node, cast(product, f32) * scale * scaleB, 4);
}

} // namespace

void registerQuantizedOperators(Registry &registry) {
  auto add = [&](StringRef name, Entry::BuildOne build) {
    registry.add(("com.microsoft." + name).str(), {1}, std::move(build));
  };
  add("QLinearAdd", onPairs([](Tensor a, Tensor b) { return a + b; }));
  add("QLinearMul", onPairs([](Tensor a, Tensor b) { return a * b; }));
  add("QLinearSigmoid", onReals([](Node &, Tensor x) { return sigmoid(x); }));
  add("QLinearLeakyRelu",
      onReals([](Node &node, Tensor x) { return select(x > 0.0, x, x * node.real("alpha", 0.01)); }));
  add("QLinearSoftmax", onReals(softmaxReal));
  add("QLinearAveragePool", onReals(averagePoolReal));
  add("QLinearGlobalAveragePool", onReals(globalAveragePoolReal));
  add("QLinearReduceMean", onReals(reduceMeanReal));
  add("QLinearConcat", concatQuantized);
  add("QGemm", gemmQuantized);
  add("MatMulIntegerToFloat", matmulToFloat);
  add("DynamicQuantizeMatMul", dynamicMatmul);
}

} // namespace freestone::importer
