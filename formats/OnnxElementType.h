#ifndef FREESTONE_FORMATS_ONNXELEMENTTYPE_H
#define FREESTONE_FORMATS_ONNXELEMENTTYPE_H

#include "freestone/runtime.h"
#include <cstdint>
#include <optional>

namespace freestone::formats {

/// The element type that ONNX's TensorProto numbers so; nothing for those that the runtime does not have.
std::optional<freestone_dtype> elementTypeFromOnnx(int64_t number);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_ONNXELEMENTTYPE_H
