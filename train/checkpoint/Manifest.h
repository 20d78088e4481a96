#ifndef FREESTONE_TRAIN_CHECKPOINT_MANIFEST_H
#define FREESTONE_TRAIN_CHECKPOINT_MANIFEST_H

#include "train/data/Loader.h"
#include <map>
#include <string>

namespace freestone::train {

/// All state of a training other than tensors. Numbers round-trip exactly.
struct TrainingState {
  int64_t step = 0; ///< steps done
  uint64_t seed = 0;
  double lossScale = 1;
  LoaderPosition data;
  std::map<std::string, double> numbers = {};    ///< further numbers of the training
  std::map<std::string, std::string> texts = {}; ///< such as the command's options
};

/// A file of a checkpoint.
struct CheckpointFile {
  std::string name;  ///< within the checkpoint's folder
  std::string group; ///< the group of its tensors, "parameters"
  uint64_t bytes = 0;
  std::string checksum; ///< xxh3-128, 32 hexadecimal digits
};

/// The contents of a checkpoint's manifest.json.
struct Manifest {
  TrainingState state;
  std::vector<CheckpointFile> files;
};

/// JSON that ends with its own checksum, which detects a torn manifest.
std::string formatManifest(const Manifest &manifest);
/// Throws Error.
Manifest parseManifest(const std::string &text);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_CHECKPOINT_MANIFEST_H
