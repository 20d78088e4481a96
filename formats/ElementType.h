// Sizes and names of element types, and sizes of tensors.
#ifndef FREESTONE_FORMATS_ELEMENTTYPE_H
#define FREESTONE_FORMATS_ELEMENTTYPE_H

#include "freestone/runtime.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freestone::formats {

/// Bytes of one element; 1 of those that share a byte, of which it holds `elementsPerByte`, the first in its lowest
/// bits.
size_t elementBytes(freestone_dtype dtype);
size_t elementsPerByte(freestone_dtype dtype);
DLDataType dlpackType(freestone_dtype dtype);
bool isFloat(freestone_dtype dtype);
/// Whether models only store, move and cast elements of this type: float8, float4, and integers below a byte.
bool isStorageOnly(freestone_dtype dtype);
/// "f32"
std::string_view typeName(freestone_dtype dtype);
std::optional<freestone_dtype> typeFromName(std::string_view name);

/// Number of elements; throws FormatError when a size is negative or the product overflows.
int64_t countElements(const std::vector<int64_t> &shape);
/// Bytes of all elements; throws as countElements.
size_t countBytes(freestone_dtype dtype, const std::vector<int64_t> &shape);
/// "2x3xf32"; for a scalar "f32".
std::string describe(freestone_dtype dtype, const std::vector<int64_t> &shape);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_ELEMENTTYPE_H
