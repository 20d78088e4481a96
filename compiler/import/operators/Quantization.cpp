// Numbers that stand for others by a scale and a zero point.
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/operators/QuantizedValues.h"
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

} // namespace

Tensor quantize(Tensor x, Tensor scale, Tensor zeroPoint, mlir::Type type, bool saturate) {
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

namespace {

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

/// Unsigned integers of `bits` bits out of bytes along the last dimension, the first in the lowest bits.
Tensor unpackIntegers(Tensor bytes, int64_t bits) {
  if (!bytes || bits == 8)
    return bytes;
  mlir::Type type = bytes.builder().getIntegerType(bits, /*isSigned=*/false);
  SmallVector<Tensor> places;
  for (int64_t place = 0; place < 8; place += bits)
    places.push_back(
        unsqueeze(cast(binary(graph::BinaryKind::shr, bytes, scalarLike(static_cast<double>(place), bytes)), type),
                  {bytes.rank()}));
  Shape shape(bytes.shape());
  shape.back() = shape.back() * (8 / bits);
  return reshape(concat(places, bytes.rank()), shape);
}

/// A product with the transpose of a quantised matrix [N, K], whose rows are blocks with a scale and a zero point each.
Tensor matmulNBits(Node &node) {
  Tensor x = node.input(0), packed = node.input(1), scale = node.input(2), zero = node.optionalInput(3);
  if (!x || !packed || !scale || (node.has(3) && !zero))
    return {};
  int64_t bits = node.integer("bits", 4), depth = node.integer("K"), columns = node.integer("N"),
          block = node.integer("block_size");
  if (node.has(4))
    return node.refuse("groups given by indices (g_idx) are not supported");
  if (bits != 2 && bits != 4 && bits != 8)
    return node.refuse("weights of " + Twine(bits) + " bits are not supported");
  if (depth < 1 || columns < 1 || block < 8 || !packed.isUnsigned() || packed.rank() != 3 || x.rank() < 1)
    return node.reject("K, N and block_size do not fit the weights, which are bytes of rank 3");
  ModelBuilder &builder = node.builder();
  mlir::Type real = builder.getF32Type();
  Expr blocks = builder.size(divideCeil(depth, block)), rows = builder.size(columns);
  Tensor codes = conform(unpackIntegers(packed, bits), {rows, blocks, builder.size(block)}, "the sizes of the weights");
  Tensor zeros = builder.scalar(1 << (bits - 1), real);
  if (zero && zero.isFloat()) {
    zeros = cast(reshape(zero, {rows, blocks, builder.size(1)}), real);
  } else if (zero) {
    int64_t bytes = divideCeil(divideCeil(depth, block) * bits, 8);
    Tensor all = unpackIntegers(reshape(zero, {rows, builder.size(bytes)}), bits);
    zeros = cast(unsqueeze(slice(all, 1, builder.size(0), blocks), {2}), real);
  }
  Tensor weights = (cast(codes, real) - zeros) * cast(reshape(scale, {rows, blocks, builder.size(1)}), real);
  Tensor whole = slice(reshape(weights, {rows, blocks * block}), 1, builder.size(0), builder.size(depth));
  Tensor product = matmul(x, transpose(cast(whole, x.elementType()), {1, 0}));
  return node.has(5) ? product + node.input(5) : product;
}

} // namespace

void registerQuantization(Registry &registry) {
  registry.add("QuantizeLinear", {10}, quantizeLinear);
  registry.add("DequantizeLinear", {10}, dequantizeLinear);
  registry.add("com.microsoft.QuantizeLinear", {1}, quantizeLinear);
  registry.add("com.microsoft.DequantizeLinear", {1}, dequantizeLinear);
  registry.add("QLinearMatMul", {10}, qlinearMatmul);
  registry.add("com.microsoft.MatMulNBits", {1}, matmulNBits);
}

} // namespace freestone::importer
