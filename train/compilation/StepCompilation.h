#ifndef FREESTONE_TRAIN_COMPILATION_STEPCOMPILATION_H
#define FREESTONE_TRAIN_COMPILATION_STEPCOMPILATION_H

#include "cache/Entry.h"
#include "freestone/trainer.h"

namespace freestone::train {

/// Loads the step of an .onnx file, from the user's cache or newly compiled, or that of a .stone file. `kept` is the
/// cache's entry, which must outlive the artifact. Throws freestone::Error and Error.
Artifact loadStep(const std::string &model, const TrainerOptions &options, cache::Entry &kept);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_COMPILATION_STEPCOMPILATION_H
