#include "compiler/import/TensorData.h"
#include "compiler/dialect/graph/GraphDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using Proto = onnx::TensorProto;

struct TypeEntry {
  int onnxType;
  StringRef onnxName;
  unsigned width; // 0: not ours
  enum { Float, BFloat, Signed, Unsigned, Stored } kind;
};

constexpr TypeEntry types[] = {
    {Proto::FLOAT, "float", 32, TypeEntry::Float},
    {Proto::DOUBLE, "double", 64, TypeEntry::Float},
    {Proto::FLOAT16, "float16", 16, TypeEntry::Float},
    {Proto::BFLOAT16, "bfloat16", 16, TypeEntry::BFloat},
    {Proto::BOOL, "bool", 1, TypeEntry::Signed},
    {Proto::INT8, "int8", 8, TypeEntry::Signed},
    {Proto::INT16, "int16", 16, TypeEntry::Signed},
    {Proto::INT32, "int32", 32, TypeEntry::Signed},
    {Proto::INT64, "int64", 64, TypeEntry::Signed},
    {Proto::UINT8, "uint8", 8, TypeEntry::Unsigned},
    {Proto::UINT16, "uint16", 16, TypeEntry::Unsigned},
    {Proto::UINT32, "uint32", 32, TypeEntry::Unsigned},
    {Proto::UINT64, "uint64", 64, TypeEntry::Unsigned},
    {Proto::STRING, "string", 0, TypeEntry::Signed},
    {Proto::COMPLEX64, "complex64", 0, TypeEntry::Float},
    {Proto::COMPLEX128, "complex128", 0, TypeEntry::Float},
    {Proto::INT4, "int4", 4, TypeEntry::Signed},
    {Proto::INT2, "int2", 2, TypeEntry::Signed},
    {Proto::UINT4, "uint4", 4, TypeEntry::Unsigned},
    {Proto::UINT2, "uint2", 2, TypeEntry::Unsigned},
    {Proto::FLOAT8E4M3FN, "float8e4m3fn", 8, TypeEntry::Stored},
    {Proto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8, TypeEntry::Stored},
    {Proto::FLOAT8E5M2, "float8e5m2", 8, TypeEntry::Stored},
    {Proto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8, TypeEntry::Stored},
    {Proto::FLOAT8E8M0, "float8e8m0", 8, TypeEntry::Stored},
    {Proto::FLOAT4E2M1, "float4e2m1", 4, TypeEntry::Stored},
};

mlir::Type storedFloat(mlir::MLIRContext *context, int onnxType) {
  switch (onnxType) {
  case Proto::FLOAT8E4M3FN:
    return mlir::Float8E4M3FNType::get(context);
  case Proto::FLOAT8E4M3FNUZ:
    return mlir::Float8E4M3FNUZType::get(context);
  case Proto::FLOAT8E5M2:
    return mlir::Float8E5M2Type::get(context);
  case Proto::FLOAT8E5M2FNUZ:
    return mlir::Float8E5M2FNUZType::get(context);
  case Proto::FLOAT8E8M0:
    return mlir::Float8E8M0FNUType::get(context);
  default:
    return mlir::Float4E2M1FNType::get(context);
  }
}

const fltSemantics &semanticsOf(mlir::Type type) { return cast<mlir::FloatType>(type).getFloatSemantics(); }

template <typename Field> void widen(const Field &field, std::string &out) {
  for (auto value : field)
    out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Typed fields hold narrow elements one per number, in the low bits; those below a byte, one packed byte per number.
template <typename Field> void narrow(const Field &field, int64_t width, std::string &out) {
  for (auto value : field)
    out.append(reinterpret_cast<const char *>(&value), width);
}

void decodeFields(const Proto &proto, int64_t width, std::string &out) {
  switch (proto.data_type()) {
  case Proto::FLOAT:
    return widen(proto.float_data(), out);
  case Proto::DOUBLE:
    return widen(proto.double_data(), out);
  case Proto::INT64:
    return widen(proto.int64_data(), out);
  case Proto::UINT32:
  case Proto::UINT64:
    return narrow(proto.uint64_data(), width, out);
  default:
    return narrow(proto.int32_data(), width, out);
  }
}

} // namespace

mlir::Type elementTypeOf(mlir::MLIRContext *context, int onnxType) {
  mlir::Builder builder(context);
  for (const TypeEntry &entry : types) {
    if (entry.onnxType != onnxType || !entry.width)
      continue;
    if (entry.kind == TypeEntry::Stored)
      return storedFloat(context, onnxType);
    if (entry.kind == TypeEntry::BFloat)
      return builder.getBF16Type();
    if (entry.kind == TypeEntry::Float)
      return entry.width == 16   ? mlir::Type(builder.getF16Type())
             : entry.width == 32 ? mlir::Type(builder.getF32Type())
                                 : mlir::Type(builder.getF64Type());
    return entry.kind == TypeEntry::Unsigned ? builder.getIntegerType(entry.width, /*isSigned=*/false)
                                             : builder.getIntegerType(entry.width);
  }
  return {};
}

int onnxTypeOf(mlir::Type type) {
  for (const TypeEntry &entry : types)
    if (entry.width && elementTypeOf(type.getContext(), entry.onnxType) == type)
      return entry.onnxType;
  return Proto::UNDEFINED;
}

std::string onnxTypeName(int onnxType) {
  for (const TypeEntry &entry : types)
    if (entry.onnxType == onnxType)
      return entry.onnxName.str();
  if (!onnx::TensorProto_DataType_IsValid(onnxType))
    return "type " + std::to_string(onnxType);
  return StringRef(onnx::TensorProto_DataType_Name(onnx::TensorProto_DataType(onnxType))).lower();
}

/// Bytes of one element, of those that have bytes of their own.
static int64_t bytesOf(mlir::Type type) { return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8); }

int64_t countBytes(mlir::Type type, int64_t elements) {
  return graph::isSubByte(type) ? divideCeil(elements, graph::PackedAttr::getElementsPerByte(type))
                                : elements * bytesOf(type);
}

/// The bits of element `index`.
static uint64_t bitsOf(const TensorData &data, int64_t index) {
  if (graph::isSubByte(data.type)) {
    int64_t width = data.type.getIntOrFloatBitWidth(), perByte = 8 / width;
    return uint8_t(data.bytes[index / perByte]) >> (index % perByte * width) & ((1 << width) - 1);
  }
  int64_t width = bytesOf(data.type);
  uint64_t bits = 0;
  memcpy(&bits, data.bytes.data() + index * width, width);
  return bits;
}

LogicalResult decodeTensor(mlir::MLIRContext *context, const Proto &proto, ArrayRef<char> raw, TensorData &data,
                           std::string &error) {
  data.type = elementTypeOf(context, proto.data_type());
  if (!data.type) {
    error = "elements of type " + onnxTypeName(proto.data_type()) + " are not supported";
    return failure();
  }
  int64_t count = 1, size = 0;
  bool overflows = false;
  for (int64_t dim : proto.dims()) {
    if (dim < 0) {
      error = "it has the negative dimension " + std::to_string(dim);
      return failure();
    }
    overflows |= MulOverflow(count, dim, count);
  }
  if (overflows || MulOverflow(count, bytesOf(data.type), size)) {
    error = "its size does not fit into 64 bits";
    return failure();
  }
  size = countBytes(data.type, count);
  data.dims.assign(proto.dims().begin(), proto.dims().end());
  data.count = count;
  data.bytes = raw;
  if (raw.empty()) {
    decodeFields(proto, bytesOf(data.type), data.owned);
    data.bytes = {data.owned.data(), data.owned.size()};
  }
  if (int64_t(data.bytes.size()) == size || (data.isStripped() && data.type.isFloat()))
    return success();
  error = "its data have " + std::to_string(data.bytes.size()) + " bytes, but its shape and type need " +
          std::to_string(size);
  return failure();
}

std::optional<Content> contentOf(const TensorData &data) {
  Content content;
  unsigned width = data.type.getIntOrFloatBitWidth();
  for (int64_t index = 0; index < data.count; ++index) {
    uint64_t bits = bitsOf(data, index);
    if (isa<mlir::FloatType>(data.type)) {
      APFloat value(semanticsOf(data.type), APInt(width, bits));
      // Several codes are NaN.
      if (value.isNaN() && graph::isStorageOnly(data.type))
        return std::nullopt;
      bool inexact;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      content.push_back(value.convertToDouble());
      continue;
    }
    if (data.type.isInteger(1))
      bits = bits != 0;
    else if (!data.type.isUnsignedInteger())
      bits = SignExtend64(bits, width);
    else if (int64_t(bits) < 0)
      return std::nullopt;
    content.push_back(sym::Expr::constant(data.type.getContext(), bits));
  }
  return content;
}

std::string bytesOf(const Content &content, mlir::Type type) {
  std::string bytes;
  unsigned width = type.getIntOrFloatBitWidth(), used = 0;
  for (const Element &element : content) {
    uint64_t bits = element.asConstantInteger().value_or(0);
    if (isa<mlir::FloatType>(type)) {
      APFloat value(*element.asReal());
      bool inexact;
      value.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &inexact);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    if (!graph::isSubByte(type)) {
      bytes.append(reinterpret_cast<const char *>(&bits), bytesOf(type));
      continue;
    }
    if (used % 8 == 0)
      bytes.push_back(0);
    bytes.back() |= char((bits & ((1 << width) - 1)) << used % 8);
    used += width;
  }
  return bytes;
}

} // namespace freestone::importer
