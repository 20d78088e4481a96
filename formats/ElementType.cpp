#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include <algorithm>
#include <fmt/ranges.h>

namespace freestone::formats {

// In the order of freestone_dtype, from 1.
struct TypeInfo {
  std::string_view name;
  uint8_t bits, dlpackCode;
};
static constexpr TypeInfo types[] = {{"f16", 16, kDLFloat},
                                     {"bf16", 16, kDLBfloat},
                                     {"f32", 32, kDLFloat},
                                     {"f64", 64, kDLFloat},
                                     {"i1", 8, kDLBool},
                                     {"i8", 8, kDLInt},
                                     {"i16", 16, kDLInt},
                                     {"i32", 32, kDLInt},
                                     {"i64", 64, kDLInt},
                                     {"u8", 8, kDLUInt},
                                     {"u16", 16, kDLUInt},
                                     {"u32", 32, kDLUInt},
                                     {"u64", 64, kDLUInt},
                                     {"f8e4m3fn", 8, kDLFloat8_e4m3fn},
                                     {"f8e4m3fnuz", 8, kDLFloat8_e4m3fnuz},
                                     {"f8e5m2", 8, kDLFloat8_e5m2},
                                     {"f8e5m2fnuz", 8, kDLFloat8_e5m2fnuz},
                                     {"f8e8m0", 8, kDLFloat8_e8m0fnu},
                                     {"f4e2m1", 4, kDLFloat4_e2m1fn},
                                     {"i4", 4, kDLInt},
                                     {"u4", 4, kDLUInt},
                                     {"i2", 2, kDLInt},
                                     {"u2", 2, kDLUInt}};
static_assert(std::size(types) == FREESTONE_U2);

size_t elementBytes(freestone_dtype dtype) { return std::max(1, types[dtype - 1].bits / 8); }

size_t elementsPerByte(freestone_dtype dtype) { return std::max(1, 8 / types[dtype - 1].bits); }

DLDataType dlpackType(freestone_dtype dtype) { return {types[dtype - 1].dlpackCode, types[dtype - 1].bits, 1}; }

bool isFloat(freestone_dtype dtype) {
  return dtype <= FREESTONE_F64 || (dtype >= FREESTONE_F8E4M3FN && dtype <= FREESTONE_F4E2M1);
}

bool isStorageOnly(freestone_dtype dtype) { return dtype >= FREESTONE_F8E4M3FN; }

std::string_view typeName(freestone_dtype dtype) { return types[dtype - 1].name; }

std::optional<freestone_dtype> typeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(types); ++i)
    if (types[i].name == name)
      return static_cast<freestone_dtype>(i + 1);
  return std::nullopt;
}

int64_t countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      throw FormatError(fmt::format("a dimension of {} is negative", size));
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflow && !empty)
    throw FormatError(fmt::format("the shape {} has too many elements", fmt::join(shape, "x")));
  return empty ? 0 : count;
}

size_t countBytes(freestone_dtype dtype, const std::vector<int64_t> &shape) {
  int64_t bytes;
  if (__builtin_mul_overflow(countElements(shape), static_cast<int64_t>(elementBytes(dtype)), &bytes))
    throw FormatError(fmt::format("{} is too large", describe(dtype, shape)));
  size_t perByte = elementsPerByte(dtype);
  return (static_cast<size_t>(bytes) + perByte - 1) / perByte;
}

std::string describe(freestone_dtype dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += fmt::format("{}x", size);
  return text.append(typeName(dtype));
}

} // namespace freestone::formats
