// NumPy's .npz files: ZIP archives of .npy files.
#ifndef FREESTONE_TOOLS_TENSOR_NPZ_H
#define FREESTONE_TOOLS_TENSOR_NPZ_H

#include "tools/tensor/Bytes.h"
#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// Reads stored and deflated entries, ZIP64 too, and verifies their checksums. Throws TensorError.
std::vector<NamedTensor> parseNpz(Bytes bytes);

/// Entries are stored, in the order given, without times: equal tensors give equal bytes. Throws TensorError above 4
/// GiB.
std::vector<uint8_t> formatNpz(const std::vector<NamedTensorRef> &tensors);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_NPZ_H
