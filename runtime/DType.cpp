#include "runtime/DType.h"

#include <array>

using namespace freestone::runtime;

namespace {
struct Properties {
  DType dtype;
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<Properties, 13> table = {{
    {DType::f16, "f16", 2},
    {DType::bf16, "bf16", 2},
    {DType::f32, "f32", 4},
    {DType::f64, "f64", 8},
    {DType::i1, "i1", 1},
    {DType::i8, "i8", 1},
    {DType::i16, "i16", 2},
    {DType::i32, "i32", 4},
    {DType::i64, "i64", 8},
    {DType::u8, "u8", 1},
    {DType::u16, "u16", 2},
    {DType::u32, "u32", 4},
    {DType::u64, "u64", 8},
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

int64_t freestone::runtime::dtypeBytes(DType dtype) { return of(dtype).bytes; }

bool freestone::runtime::isInteger(DType dtype) { return dtype >= DType::i8; }
