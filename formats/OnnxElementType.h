#ifndef FREESTONE_FORMATS_ONNXELEMENTTYPE_H
#define FREESTONE_FORMATS_ONNXELEMENTTYPE_H

#include "freestone/runtime.h"
#include <cstdint>
#include <optional>

namespace freestone::formats {

/// The element type of a number of ONNX's TensorProto; nothing for types that the runtime does not have.
std::optional<freestone_dtype> elementTypeFromOnnx(int64_t number);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_ONNXELEMENTTYPE_H
