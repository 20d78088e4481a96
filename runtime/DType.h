#ifndef FREESTONE_RUNTIME_DTYPE_H
#define FREESTONE_RUNTIME_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace freestone::runtime {

/// Element types of tensors. The values are those of `freestone_dtype` in freestone/runtime.h.
enum class DType : int32_t { f16 = 1, bf16, f32, f64, i1, i8, i16, i32, i64, u8, u16, u32, u64 };

/// The name as in MLIR: "f32", "bf16", "u8", …
std::string_view dtypeName(DType dtype);
std::optional<DType> dtypeFromName(std::string_view name);

/// Bytes of one element; i1 is one byte that holds 0 or 1.
int64_t dtypeBytes(DType dtype);
bool isInteger(DType dtype);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_DTYPE_H
