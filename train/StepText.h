#ifndef FREESTONE_TRAIN_STEPTEXT_H
#define FREESTONE_TRAIN_STEPTEXT_H

#include "freestone/trainer.h"

namespace freestone::train {

/// What the data tell of the labels, so that the compiler finds the dimension of the classes.
struct LabelFacts {
  std::string type;           ///< of their elements; empty: not known
  std::vector<int64_t> sizes; ///< -1 for those that vary; empty: not known
};

/// Whether the model's own graph computes the loss.
inline bool isModelsOwnLoss(const TrainerOptions &options) { return options.loss.starts_with("output:"); }
/// The .onnx file of a loss or an optimizer that is given as `file:PATH`; empty for others.
std::string graphFile(const std::string &lossOrOptimizer);
/// Those of the loss and the optimizer, as far as there are any.
std::vector<std::string> graphFiles(const TrainerOptions &options);

/// Whether a number is only what states begin as, and no input of the step.
inline bool isCompiledIn(const std::string &number) { return number == "initial_accumulator_value"; }

/// The training step as the compiler reads it (compiler/driver/TrainingText.h). Throws Error where options contradict
/// each other.
std::string describeStep(const TrainerOptions &options, const LabelFacts &labels = {});

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPTEXT_H
