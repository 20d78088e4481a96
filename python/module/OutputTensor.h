#ifndef FREESTONE_PYTHON_MODULE_OUTPUTTENSOR_H
#define FREESTONE_PYTHON_MODULE_OUTPUTTENSOR_H

#include "freestone/freestone.h"
#include <nanobind/nanobind.h>

namespace freestone::python {

/// A tensor of the runtime as an array that owns it, without a copy: of the library of `like` (through its
/// `from_dlpack`), or NumPy's, if that is null. Without ml_dtypes, bfloat16 comes as a plain object that speaks DLPack.
nanobind::object wrapTensor(Tensor tensor, nanobind::handle like);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_OUTPUTTENSOR_H
