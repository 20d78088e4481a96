#ifndef FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H
#define FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H

#include "freestone/runtime.h"
#include <cstddef>

namespace freestone::python {

/// The element type of a buffer's format in the language of Python's `struct`; false if models have none of it.
bool typeOfFormat(const char *format, ptrdiff_t itemSize, DLDataType &type);

/// NumPy's name: "float32"; "bfloat16" is that of ml_dtypes.
const char *numpyType(freestone_dtype type);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_ELEMENTTYPES_H
