// Numbers that stand for others by a scale and a zero point.
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/operators/ZeroPoints.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Scale or zero point, shaped to broadcast with x: one for all, one per index of `axis`, or one per block along it.
Tensor spreadAlong(Node &node, Tensor parameter, Tensor x, int64_t axis) {
  if (!parameter || !x)
    return {};
  if (parameter.rank() == 0 || parameter.elementCount().isConstant(1))
    return reshape(parameter, {});
  ModelBuilder &builder = node.builder();
  if (parameter.rank() == 1 && x.rank() != 0) {
    Shape shape(x.rank(), builder.size(1));
    shape[axis] = parameter.dim(0);
    return reshape(parameter, shape);
  }
  int64_t block = node.integer("block_size");
  if (parameter.rank() != x.rank() || block < 1)
    return node.reject("scale and zero point do not fit the input");
  // Each element of the parameter is repeated `block` times along the axis.
  Tensor repeated = unsqueeze(parameter, {axis + 1});
  if (!repeated)
    return {};
  Shape spread(repeated.shape()), merged(parameter.shape());
  spread[axis + 1] = builder.size(block);
  merged[axis] = merged[axis] * block;
  return slice(reshape(broadcastTo(repeated, spread), merged), axis, builder.size(0), x.dim(axis));
}

/// round(x / scale) + zero point, within the range of `type`. Halves round to even. Floats are rounded by the cast
/// alone; only those of 4 bits have a zero point.
Tensor quantize(Tensor x, Tensor scale, Tensor zeroPoint, mlir::Type type, bool saturate = true) {
  if (!x || !scale)
    return {};
  if (isa<mlir::FloatType>(type)) {
    Tensor quotient = x / scale;
    if (zeroPoint && isa<mlir::Float4E2M1FNType>(type))
      quotient = quotient + cast(zeroPoint, x.elementType());
    return saturate ? saturatingCast(quotient, type) : cast(quotient, type);
  }
  Tensor rounded = round(x / scale);
  if (zeroPoint)
    rounded = rounded + cast(zeroPoint, x.elementType());
  return saturatingCast(rounded, type);
}

Tensor quantizeLinear(Node &node) {
  Tensor x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  if (!x || !scale || (node.has(2) && !zeroPoint))
    return {};
  ModelBuilder &builder = node.builder();
  mlir::Type type = zeroPoint ? zeroPoint.elementType() : builder.getIntegerType(8, /*isSigned=*/false);
  if (!zeroPoint && node.integer("output_dtype"))
    type = elementTypeOf(builder.getContext(), node.integer("output_dtype"));
  bool isQuantized = type && (graph::isStorageOnly(type) || (isa<mlir::IntegerType>(type) && !type.isInteger(1))) &&
                     !isa<mlir::Float8E8M0FNUType>(type);
  if (!isQuantized)
    return node.refuse("quantisation to this type is not supported");
  int64_t given = node.integer("axis", 1);
  std::optional<int64_t> axis =
      x.rank() > 1 || scale.rank() > 0 ? node.normalize(x.rank() == 1 ? 0 : given, x.rank()) : 0;
  if (!axis)
    return {};
  mlir::Type work = x.elementType().isF64() ? x.elementType() : mlir::Type(builder.getF32Type());
  scale = cast(spreadAlong(node, scale, x, *axis), work);
  if (zeroPoint)
    zeroPoint = spreadAlong(node, zeroPoint, x, *axis);
  return quantize(cast(x, work), scale, zeroPoint, type, node.integer("saturate", 1));
}

Tensor dequantizeLinear(Node &node) {
  Tensor x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  if (!x || !scale || (node.has(2) && !zeroPoint))
    return {};
  ModelBuilder &builder = node.builder();
  mlir::Type type = scale.elementType();
  if (node.integer("output_dtype"))
    type = elementTypeOf(builder.getContext(), node.integer("output_dtype"));
  std::optional<int64_t> axis =
      x.rank() > 1 || scale.rank() > 0 ? node.normalize(x.rank() == 1 ? 0 : node.integer("axis", 1), x.rank()) : 0;
  if (!axis || !type)
    return type ? Tensor() : node.refuse("this output type is not supported");
  Tensor wide = cast(x, builder.getF32Type());
  // The zero point of floats is 0.
  if (zeroPoint && !x.isFloat())
    wide = wide - cast(spreadAlong(node, zeroPoint, x, *axis), builder.getF32Type());
  return cast(wide * cast(spreadAlong(node, scale, x, *axis), builder.getF32Type()), type);
}

/// Product of two quantised tensors, quantised.
Tensor qlinearMatmul(Node &node) {
  SmallVector<Tensor> in = node.allInputs();
  if (in.size() != 8 || !llvm::all_of(in, [](Tensor t) { return bool(t); }))
    return {};
  ModelBuilder &builder = node.builder();
  mlir::Type real = builder.getF32Type();
  Tensor product = multiplyCentered(node, in[0], in[2], in[3], in[5]);
  // Parameters per row of the left operand stand in its last but one dimension, per column of the right one in its
  // last.
  auto scaleOf = [&](Tensor scale, bool isRow) {
    if (scale.rank() == 1 && !scale.dim(0).isConstant(1) && isRow)
      scale = unsqueeze(scale, {1});
    else if (scale.rank() == 1 && scale.dim(0).isConstant(1))
      scale = reshape(scale, {});
    return cast(scale, real);
  };
  Tensor scale = scaleOf(in[1], true) * scaleOf(in[4], false);
  Tensor target = scaleOf(in[6], true);
  return quantize(cast(product, real) * scale, target, in[7].rank() == 1 ? reshape(in[7], {}) : in[7],
                  in[7].elementType());
}

} // namespace

void registerQuantization(Registry &registry) {
  registry.add("QuantizeLinear", {10}, quantizeLinear);
  registry.add("DequantizeLinear", {10}, dequantizeLinear);
  registry.add("QLinearMatMul", {10}, qlinearMatmul);
}

} // namespace freestone::importer
