#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include <fmt/ranges.h>

namespace freestone::formats {

// In the order of freestone_dtype, from 1.
struct TypeInfo {
  std::string_view name;
  size_t bytes;
};
static constexpr TypeInfo types[] = {{"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"i1", 1},  {"i8", 1}, {"i16", 2},
                                     {"i32", 4}, {"i64", 8},  {"u8", 1},  {"u16", 2}, {"u32", 4}, {"u64", 8}};
static_assert(std::size(types) == FREESTONE_U64);

size_t elementBytes(freestone_dtype dtype) { return types[dtype - 1].bytes; }

bool isFloat(freestone_dtype dtype) { return dtype <= FREESTONE_F64; }

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
  return static_cast<size_t>(bytes);
}

std::string describe(freestone_dtype dtype, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += fmt::format("{}x", size);
  return text.append(typeName(dtype));
}

} // namespace freestone::formats
