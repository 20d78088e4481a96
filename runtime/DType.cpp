#include "runtime/DType.h"

#include <algorithm>
#include <array>

using namespace freestone::runtime;

namespace {
struct Properties {
  DType dtype;
  std::string_view name;
  uint8_t bits, dlpackCode;
};

constexpr std::array<Properties, static_cast<size_t>(lastDType)> table = {{
    {DType::f16, "f16", 16, kDLFloat},
    {DType::bf16, "bf16", 16, kDLBfloat},
    {DType::f32, "f32", 32, kDLFloat},
    {DType::f64, "f64", 64, kDLFloat},
    {DType::i1, "i1", 8, kDLBool},
    {DType::i8, "i8", 8, kDLInt},
    {DType::i16, "i16", 16, kDLInt},
    {DType::i32, "i32", 32, kDLInt},
    {DType::i64, "i64", 64, kDLInt},
    {DType::u8, "u8", 8, kDLUInt},
    {DType::u16, "u16", 16, kDLUInt},
    {DType::u32, "u32", 32, kDLUInt},
    {DType::u64, "u64", 64, kDLUInt},
    {DType::f8e4m3fn, "f8e4m3fn", 8, kDLFloat8_e4m3fn},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", 8, kDLFloat8_e4m3fnuz},
    {DType::f8e5m2, "f8e5m2", 8, kDLFloat8_e5m2},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", 8, kDLFloat8_e5m2fnuz},
    {DType::f8e8m0, "f8e8m0", 8, kDLFloat8_e8m0fnu},
    {DType::f4e2m1, "f4e2m1", 4, kDLFloat4_e2m1fn},
    {DType::i4, "i4", 4, kDLInt},
    {DType::u4, "u4", 4, kDLUInt},
    {DType::i2, "i2", 2, kDLInt},
    {DType::u2, "u2", 2, kDLUInt},
}};

const Properties &of(DType dtype) { return table[static_cast<size_t>(dtype) - 1]; }
} // namespace

std::string_view freestone::runtime::dtypeName(DType dtype) { return of(dtype).name; }

std::optional<DType> freestone::runtime::dtypeFromName(std::string_view name) {
  for (const Properties &properties : table)
    if (properties.name == name)
      return properties.dtype;
  return std::nullopt;
}

int64_t freestone::runtime::dtypeBytes(DType dtype) { return std::max(1, of(dtype).bits / 8); }

bool freestone::runtime::isInteger(DType dtype) { return dtype >= DType::i8 && dtype <= DType::u64; }

std::optional<int64_t> freestone::runtime::countBytes(DType dtype, std::span<const int64_t> shape) {
  int64_t bytes = dtypeBytes(dtype), perByte = std::max(1, 8 / of(dtype).bits);
  bool overflow = false;
  for (int64_t dim : shape)
    overflow |= __builtin_mul_overflow(bytes, dim, &bytes);
  if (overflow)
    return std::nullopt;
  return bytes / perByte + (bytes % perByte != 0);
}

DLDataType freestone::runtime::toDLPack(DType dtype) { return {of(dtype).dlpackCode, of(dtype).bits, 1}; }
