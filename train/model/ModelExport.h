// The trained model as the user's own ONNX file: same graph, same names, new weights.
#ifndef FREESTONE_TRAIN_MODEL_MODELEXPORT_H
#define FREESTONE_TRAIN_MODEL_MODELEXPORT_H

#include "formats/TensorView.h"
#include "train/model/GraphRenames.h"
#include <map>
#include <span>
#include <string>

namespace freestone::train {

struct ExportOptions {
  std::string modelFolder = "."; ///< the base of relative paths of the model's external data
  /// Larger models keep their tensors in a second file beside it, with `.data` appended to its name: protobuf's size
  /// limit.
  uint64_t largestFile = (1ull << 31) - 1;
  /// Initializers to add for some nodes; those without a weight get the elements that they shared.
  std::vector<SeparateInitializer> separate = {};
  /// Matrices that are transposed copies of other initializers: they get the transposed weight.
  std::map<std::string, std::string> transposed = {};
};

/// Writes `model`, a serialized ModelProto, to `path` with the named initializers of its main graph replaced; all other
/// bytes stay unchanged, except for nodes that get initializers of their own. Shapes must be the initializers'; a float
/// tensor is rounded to the initializer's float type. External data of the model are embedded, or copied to the new
/// second file. Both files appear only when complete. A model with stripped weights gets all of them from `weights`.
/// Throws Error, naming the initializer: unknown name, different shape, no elements at all, unreadable external data.
void exportModel(formats::Bytes model, std::span<const formats::TensorView> weights, const std::string &path,
                 const ExportOptions &options = {});

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODEL_MODELEXPORT_H
