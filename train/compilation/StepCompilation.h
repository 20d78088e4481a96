#ifndef FREESTONE_TRAIN_STEPCOMPILATION_H
#define FREESTONE_TRAIN_STEPCOMPILATION_H

#include "cache/Entry.h"
#include "freestone/trainer.h"

namespace freestone::train {

/// The step of an .onnx file, compiled unless the user's cache has it, or that of a .stone file. `kept` is the cache's
/// entry; it must live as long as the artifact. Throws freestone::Error and Error.
Artifact loadStep(const std::string &model, const TrainerOptions &options, cache::Entry &kept);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPCOMPILATION_H
