// ONNX's TensorProto, as the .pb files of the backend tests hold it.
#ifndef FREESTONE_TOOLS_TENSOR_TENSORPROTO_H
#define FREESTONE_TOOLS_TENSOR_TENSORPROTO_H

#include "tools/tensor/Bytes.h"
#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// A value of a kind or element type that the runtime does not have: a sequence, an optional, strings, f8, i4.
struct UnsupportedValue : TensorError {
  using TensorError::TensorError;
};

/// Throws TensorError.
NamedTensor parseTensorProto(Bytes bytes);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_TENSORPROTO_H
