// ONNX's inliner links with the version converter, but the importer converts no versions. Its header is not included:
// it takes long to compile.
#include "onnx/onnx_pb.h"

#include <stdexcept>

namespace onnx::version_conversion {

ModelProto ConvertVersion(const ModelProto &, int) {
  throw std::logic_error("models are not converted to other versions of an operator set");
}

} // namespace onnx::version_conversion
