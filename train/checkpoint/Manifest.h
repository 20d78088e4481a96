#ifndef FREESTONE_TRAIN_MANIFEST_H
#define FREESTONE_TRAIN_MANIFEST_H

#include "train/data/Loader.h"
#include <map>
#include <string>

namespace freestone::train {

/// All of a training's state that is not a tensor. Kept exactly: numbers come back bit by bit.
struct TrainingState {
  int64_t step = 0; ///< steps done
  uint64_t seed = 0;
  double lossScale = 1;
  LoaderPosition data;
  std::map<std::string, double> numbers = {};    ///< whatever else the training keeps
  std::map<std::string, std::string> texts = {}; ///< such as the options of the command
};

/// One file of a checkpoint.
struct CheckpointFile {
  std::string name;  ///< within the checkpoint's folder
  std::string group; ///< whose tensors it holds, "parameters"
  uint64_t bytes = 0;
  std::string checksum; ///< xxh3-128, 32 hexadecimal digits
};

/// manifest.json of a checkpoint.
struct Manifest {
  TrainingState state;
  std::vector<CheckpointFile> files;
};

/// JSON, ending with its own checksum, so that a torn manifest is known as such.
std::string formatManifest(const Manifest &manifest);
/// Throws Error.
Manifest parseManifest(const std::string &text);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MANIFEST_H
