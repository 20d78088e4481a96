#ifndef FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H
#define FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H

#include "freestone/runtime.h"
#include <cstddef>
#include <optional>
#include <string_view>

namespace freestone::python {

/// The element type of a buffer's format in the language of Python's `struct`; false if models have none of it.
bool typeOfFormat(const char *format, ptrdiff_t itemSize, DLDataType &type);

/// NumPy's name: "float32"; those of types that NumPy lacks ("bfloat16", "float8_e5m2", "int4") are of ml_dtypes.
const char *numpyType(freestone_dtype type);

/// The element type of ml_dtypes, whose arrays have no buffer format, by its name; nothing for others.
std::optional<DLDataType> typeOfMlDtypes(std::string_view name);
/// The name of ml_dtypes; nothing for types that NumPy has.
std::optional<std::string_view> nameOfMlDtypes(DLDataType type);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H
