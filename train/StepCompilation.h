#ifndef FREESTONE_TRAIN_STEPCOMPILATION_H
#define FREESTONE_TRAIN_STEPCOMPILATION_H

#include "freestone/trainer.h"

namespace freestone::train {

/// The step of an .onnx file, compiled, or that of a .stone file. Throws freestone::Error and Error.
Artifact loadStep(const std::string &model, const TrainerOptions &options);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPCOMPILATION_H
