#ifndef FREESTONE_TRAIN_MODEL_MODELINITIALIZERS_H
#define FREESTONE_TRAIN_MODEL_MODELINITIALIZERS_H

#include "formats/Bytes.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone::train {

/// ONNX's field numbers on the path to an initializer's elements and uses, fixed by onnx.proto.
namespace onnx_field {
constexpr uint64_t modelGraph = 7, graphNode = 1, graphInitializer = 5, graphInput = 11;
constexpr uint64_t nodeInput = 1, valueName = 1;
constexpr uint64_t dims = 1, dataType = 2, name = 8, rawData = 9, externalData = 13, dataLocation = 14;
constexpr uint64_t entryKey = 1, entryValue = 2;
} // namespace onnx_field

/// The location of a tensor's elements in another file.
struct ExternalData {
  std::string location; ///< relative to the model's folder
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

/// An initializer of a model's main graph, as views of the model's bytes.
struct Initializer {
  std::string name;
  int64_t dataType = 0; ///< ONNX's number
  std::vector<int64_t> shape;
  std::optional<ExternalData> external;
  std::optional<formats::Bytes> rawData; ///< nothing if the elements are typed, external or missing
  bool isTyped = false;                  ///< the elements are in a typed field
};

/// Whether a field of TensorProto holds its elements or their location.
bool holdsElements(uint64_t fieldNumber);

/// Parses a serialized TensorProto. Throws FormatError if it is malformed.
Initializer parseInitializer(formats::Bytes tensor);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODEL_MODELINITIALIZERS_H
