// The trained model as the user's own ONNX file: same graph, same names, new weights.
#ifndef FREESTONE_TRAIN_MODELEXPORT_H
#define FREESTONE_TRAIN_MODELEXPORT_H

#include "formats/TensorView.h"
#include "train/model/GraphRenames.h"
#include <map>
#include <span>
#include <string>

namespace freestone::train {

struct ExportOptions {
  std::string modelFolder = "."; ///< what the paths of the model's external data are relative to
  /// A file above so many bytes keeps its tensors in a second file beside it, named as it with `.data`: protobuf's
  /// limit.
  uint64_t largestFile = (1ull << 31) - 1;
  /// Initializers that some nodes get for themselves; those without a weight begin as what they took before.
  std::vector<SeparateInitializer> separate = {};
  /// Matrices that are transposed copies of other initializers: they get the transposed weight.
  std::map<std::string, std::string> transposed = {};
};

/// Writes `model`, a serialised ModelProto, to `path` with the named initializers of its main graph replaced; all other
/// bytes stay as they are, but for nodes that get initializers of their own. Shapes must be the initializers'; a float
/// tensor of another float type than the initializer is rounded to it. External data of the model are taken in, or
/// copied to the new second file. Both files appear only when complete. A model whose weights were left out gets them
/// all from `weights`. Throws Error, naming the initializer: none of that name, another shape, no elements at all,
/// external data that can't be read.
void exportModel(formats::Bytes model, std::span<const formats::TensorView> weights, const std::string &path,
                 const ExportOptions &options = {});

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODELEXPORT_H
