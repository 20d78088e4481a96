#ifndef FREESTONE_RUNTIME_DTYPE_H
#define FREESTONE_RUNTIME_DTYPE_H

#include "freestone/dlpack.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace freestone::runtime {

/// Element types of tensors. The values are those of `freestone_dtype` in freestone/runtime.h.
enum class DType : int32_t {
  f16 = 1,
  bf16,
  f32,
  f64,
  i1,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  i4,
  u4,
  i2,
  u2
};
inline constexpr DType lastDType = DType::u2;

/// The name as in MLIR: "f32", "bf16", "u8", …
std::string_view dtypeName(DType dtype);
std::optional<DType> dtypeFromName(std::string_view name);

/// Bytes of one element, of those that have bytes of their own (1 of those that share one); i1 is one byte that holds 0
/// or 1.
int64_t dtypeBytes(DType dtype);
/// Whether elements are integers of bytes of their own.
bool isInteger(DType dtype);

/// Bytes of all elements of a tensor; nothing where they are more than 2^63. Sizes must not be negative.
std::optional<int64_t> countBytes(DType dtype, std::span<const int64_t> shape);

DLDataType toDLPack(DType dtype);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_DTYPE_H
