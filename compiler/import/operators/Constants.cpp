// Tensors that the model states, and conversions between types.
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Tensor constantOf(Node &node, const onnx::TensorProto &proto) {
  TensorData data;
  std::string error;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return node.refuse("constants with external data are not supported");
  ArrayRef<char> raw(proto.raw_data().data(), proto.raw_data().size());
  ModelBuilder &builder = node.builder();
  if (failed(decodeTensor(builder.getContext(), proto, raw, data, error)))
    return data.type ? node.reject("the constant is broken: " + error) : node.refuse(error);
  if (data.isStripped())
    return node.reject("the constant has no data");
  return builder.fromData(data);
}

template <typename List> Tensor listOf(Node &node, const List &list, mlir::Type type, bool isScalar) {
  ModelBuilder &builder = node.builder();
  Content content;
  for (auto value : list) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
      content.push_back(double(value));
    else
      content.push_back(builder.size(value));
  }
  Shape shape;
  if (!isScalar)
    shape.push_back(builder.size(content.size()));
  return builder.fromContent(std::move(content), shape, type);
}

Tensor constant(Node &node) {
  ModelBuilder &builder = node.builder();
  if (const onnx::AttributeProto *value = node.attribute("value"))
    return constantOf(node, value->t());
  if (const onnx::AttributeProto *value = node.attribute("value_float"))
    return listOf(node, ArrayRef<float>(value->f()), builder.getF32Type(), true);
  if (const onnx::AttributeProto *value = node.attribute("value_int"))
    return listOf(node, ArrayRef<int64_t>(value->i()), builder.getI64Type(), true);
  if (const onnx::AttributeProto *value = node.attribute("value_floats"))
    return listOf(node, value->floats(), builder.getF32Type(), false);
  if (const onnx::AttributeProto *value = node.attribute("value_ints"))
    return listOf(node, value->ints(), builder.getI64Type(), false);
  return node.refuse("constants that are strings or sparse are not supported");
}

Tensor constantOfShape(Node &node) {
  std::optional<Shape> shape = node.extentsInput(0);
  if (!shape)
    return {};
  ModelBuilder &builder = node.builder();
  for (Expr extent : *shape)
    if (builder.sizeFacts().interval(extent).hi < 0)
      return node.reject("the shape has a negative size");
  const onnx::AttributeProto *value = node.attribute("value");
  Tensor element = value ? constantOf(node, value->t()) : builder.scalar(0, builder.getF32Type());
  return element ? broadcastTo(reshape(element, {}), *shape) : element;
}

Tensor castTo(Node &node, mlir::Type type, int onnxType) {
  if (!type)
    return node.refuse("the type " + onnxTypeName(onnxType) + " is not supported");
  if (!isa<mlir::FloatType>(type) || !graph::isStorageOnly(type))
    return cast(node.input(0), type);
  std::optional<graph::RoundMode> round = graph::RoundMode::nearest;
  if (isa<mlir::Float8E8M0FNUType>(type))
    round = graph::symbolizeRoundMode(node.text("round_mode", "up"));
  if (!round)
    return node.reject("round_mode is '" + node.text("round_mode", "") + "', not up, down or nearest");
  return node.integer("saturate", 1) ? saturatingCast(node.input(0), type, *round) : cast(node.input(0), type, *round);
}

Tensor bitCast(Node &node) {
  Tensor x = node.input(0);
  int number = node.integer("to");
  mlir::Type type = elementTypeOf(node.builder().getContext(), number);
  if (!x || !type)
    return x ? node.refuse("the type " + onnxTypeName(number) + " is not supported") : x;
  return bitcast(x, type);
}

Tensor eyeLike(Node &node) {
  Tensor like = node.input(0);
  if (!like)
    return like;
  if (like.rank() != 2)
    return node.reject("the input must be a matrix");
  ModelBuilder &builder = node.builder();
  mlir::Type type = like.elementType();
  if (node.hasAttribute("dtype"))
    type = elementTypeOf(builder.getContext(), node.integer("dtype"));
  if (!type)
    return node.refuse("the type " + onnxTypeName(node.integer("dtype")) + " is not supported");
  // Positions and their sums with k fit 32 bits, if each is short: vectors have twice as many.
  constexpr int64_t half = int64_t(1) << 30;
  int64_t k = node.integer("k");
  bool isShort = -half < k && k < half && llvm::all_of(like.shape(), [&](Expr extent) {
    return builder.sizeFacts().interval(extent).hi <= half;
  });
  mlir::Type position = builder.getIntegerType(isShort ? 32 : 64);
  Tensor row = iota(builder, like.shape(), 0, position), column = iota(builder, like.shape(), 1, position);
  return cast(equal(row + double(k), column), type);
}

/// (limit - start) / delta, rounded up and at least 0, of three numbers; a symbol where data decide it.
std::optional<Expr> rangeLength(Node &node, Tensor start, Tensor limit, Tensor delta) {
  ModelBuilder &builder = node.builder();
  const Content *step = delta.content();
  constexpr StringLiteral complaint = "the step is 0";
  if (step && step->front().asReal() == 0) {
    node.reject(complaint);
    return std::nullopt;
  }
  // Constants are counted as they are, before they are rounded to the type; integers as fractions.
  mlir::Type real = builder.getF64Type(), integer = builder.getI64Type();
  Tensor count = unary(UnaryKind::ceil, (cast(limit, real) - cast(start, real)) / cast(delta, real));
  if (!count)
    return std::nullopt;
  const Content *known = count.content();
  if (!known) {
    bool isOfOne = start.isInteger() && step && step->front().asReal() == 1;
    count = isOfOne ? cast(limit, integer) - cast(start, integer) : cast(count, integer);
    count = max(count, 0.0);
    // No length, which ends the run.
    if (!step)
      count = select(equal(delta, 0.0), -1.0, count);
    return builder.dataSizes.get(count, 0, complaint);
  }
  std::optional<double> number = known->front().asReal();
  if (number && !(std::fabs(*number) < 1e15)) {
    node.reject("the length is no number of elements");
    return std::nullopt;
  }
  Expr length = number ? builder.size(int64_t(*number)) : known->front().asExpr();
  return builder.sizeFacts().simplify(Expr::max(length, builder.size(0)));
}

Tensor range(Node &node) {
  SmallVector<Tensor> inputs = node.allInputs();
  if (inputs.size() != 3 || !llvm::all_of(inputs, [](Tensor t) { return bool(t); }))
    return {};
  SmallVector<Tensor> scalars;
  for (Tensor input : inputs) {
    if (input.elementCount() != node.builder().size(1))
      return node.reject("start, limit and step must be scalars");
    scalars.push_back(reshape(input, {}));
  }
  std::optional<Expr> length = rangeLength(node, scalars[0], scalars[1], scalars[2]);
  if (!length || node.builder().stopped())
    return {};
  // Positions are exact in f32, which f16 and bf16 round once.
  mlir::Type type = inputs[0].elementType();
  Tensor place = iota(node.builder(), {*length}, 0, widen(scalars[0]).elementType());
  return cast(place * widen(scalars[2]) + widen(scalars[0]), type);
}

} // namespace

void registerConstants(Registry &registry) {
  registry.add("Constant", {1}, constant);
  registry.add("ConstantOfShape", {9}, constantOfShape);
  registry.addMany("Identity", {1}, [](Node &node) { node.setOutput(0, node.value(0)); });
  registry.add("Cast", {6}, [](Node &node) {
    int type = node.integer("to");
    return castTo(node, elementTypeOf(node.builder().getContext(), type), type);
  });
  registry.add("CastLike", {15}, [](Node &node) {
    Tensor like = node.input(1);
    return like ? castTo(node, like.elementType(), 0) : like;
  });
  registry.add("BitCast", {26}, bitCast);
  registry.add("EyeLike", {9}, eyeLike);
  registry.add("Range", {11}, range);
}

} // namespace freestone::importer
