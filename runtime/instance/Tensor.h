#ifndef FREESTONE_RUNTIME_TENSOR_H
#define FREESTONE_RUNTIME_TENSOR_H

#include "freestone/dlpack.h"
#include "runtime/artifact/Descriptor.h"

namespace freestone::runtime {

DLDataType toDLPack(DType dtype);

/// Refers to `data` and `shape`.
DLTensor toDLTensor(void *data, DType dtype, const std::vector<int64_t> &shape);

/// The caller's memory behind an input or output.
struct TensorView {
  void *data = nullptr; ///< not null, also when there are no elements
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// Whether any byte of one view is a byte of the other. What has no bytes overlaps nothing.
bool overlap(const TensorView &a, const TensorView &b);

/// Takes a tensor that must be what `info` says but for its sizes: dtype and rank, on the CPU, C-contiguous, aligned to
/// its element. `kind` names it: "input". The memory of `view` is used again; it is undefined after an error. Errors:
/// InvalidArgument, Mismatch.
Status viewTensor(const DLTensor &tensor, const TensorInfo &info, const char *kind, TensorView &view);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TENSOR_H
