#ifndef FREESTONE_RUNTIME_INSTANCE_TENSOR_H
#define FREESTONE_RUNTIME_INSTANCE_TENSOR_H

#include "freestone/dlpack.h"
#include "runtime/artifact/Descriptor.h"

namespace freestone::runtime {

/// A view; does not own `data` and `shape`.
DLTensor toDLTensor(void *data, DType dtype, const std::vector<int64_t> &shape);

/// A view of the caller's memory for an input or output.
struct TensorView {
  void *data = nullptr; ///< not null, even without elements
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// Whether two views share a byte. An empty view overlaps nothing.
bool overlap(const TensorView &a, const TensorView &b);

/// Checks that a tensor matches `info` except for sizes: dtype and rank, on the CPU, C-contiguous, aligned to its
/// element. `kind` names it: "input". Reuses the memory of `view`, which is undefined after an error. Errors:
/// InvalidArgument, Mismatch.
Status viewTensor(const DLTensor &tensor, const TensorInfo &info, const char *kind, TensorView &view);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_TENSOR_H
