// ONNX's TensorProto, SequenceProto and OptionalProto, as the .pb files of the backend tests hold them.
#ifndef FREESTONE_TOOLS_TENSOR_TENSORPROTO_H
#define FREESTONE_TOOLS_TENSOR_TENSORPROTO_H

#include "tools/tensor/Bytes.h"
#include "tools/tensor/Tensor.h"

namespace freestone::tools {

/// A value of an element type that the runtime does not have: strings, f8, i4.
struct UnsupportedValue : TensorError {
  using TensorError::TensorError;
};

/// Throws TensorError.
NamedTensor parseTensorProto(Bytes bytes);
/// A SequenceProto, an OptionalProto, or a TensorProto: the files do not state their kind. Throws TensorError.
NamedValue parseValueProto(Bytes bytes);
/// A SequenceProto or an OptionalProto. Throws TensorError.
NamedValue parseContainerProto(Bytes bytes);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_TENSORPROTO_H
