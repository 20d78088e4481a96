// NumPy's .npy files; of types that NumPy lacks, as of `ml_dtypes` (see formats/NpyHeader.h).
#ifndef FREESTONE_TOOLS_TENSOR_NPY_H
#define FREESTONE_TOOLS_TENSOR_NPY_H

#include "tools/tensor/Bytes.h"
#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// Reads versions 1 to 3, either byte order, C or Fortran order. Throws TensorError; bytes after the elements are an
/// error too.
Tensor parseNpy(Bytes bytes);

/// Version 1.0, little-endian, C order; equal tensors give equal bytes.
std::vector<uint8_t> formatNpy(const Tensor &tensor);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_NPY_H
