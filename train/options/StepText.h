#ifndef FREESTONE_TRAIN_STEPTEXT_H
#define FREESTONE_TRAIN_STEPTEXT_H

#include "freestone/trainer.h"
#include <span>

namespace freestone::train {

/// What the data tell of the labels, so that the compiler finds the dimension of the classes.
struct LabelFacts {
  std::string type;           ///< of their elements; empty: not known
  std::vector<int64_t> sizes; ///< -1 for those that are not known; empty: not even how many
};

/// What an array of labels tells, its first dimension being the samples. `output` is the shape of what the loss takes,
/// as the model's file declares it, -1 for sizes that are not constant. Where it says which dimension is that of the
/// classes, sizes of labels that vary with the data are left out, since another length is no other step.
LabelFacts describeLabels(std::string type, std::vector<int64_t> shape, std::span<const int64_t> output);

/// Whether the model's own graph computes the loss.
inline bool isModelsOwnLoss(const TrainerOptions &options) { return options.loss.starts_with("output:"); }
/// Whether the loss is between an output of the model and labels, which data have.
inline bool takesLabels(const TrainerOptions &options) {
  return !isModelsOwnLoss(options) && !options.loss.starts_with("file:");
}
/// The .onnx file of a loss or an optimizer that is given as `file:PATH`; empty for others.
std::string graphFile(const std::string &lossOrOptimizer);
/// Those of the loss and the optimizer, as far as there are any.
std::vector<std::string> graphFiles(const TrainerOptions &options);

/// Whether a number is only what states begin as, and no input of the step.
inline bool isCompiledIn(const std::string &number) { return number == "initial_accumulator_value"; }

/// Whether the optimizer has a momentum only where one is given; PyTorch's has it always, as 0.
inline bool hasOptionalMomentum(const std::string &optimizer) { return optimizer == "sgd" || optimizer == "rmsprop"; }

/// Whose numbers a compiled step begins with.
enum class FirstNumbers {
  Defaults, ///< the optimizer's, so that steps for other numbers are the same: a run sets its own
  Given,    ///< those of the options, for a step that is run by itself later
};

/// The training step as the compiler reads it (compiler/driver/TrainingText.h). Throws Error where options contradict
/// each other.
std::string describeStep(const TrainerOptions &options, const LabelFacts &labels = {},
                         FirstNumbers first = FirstNumbers::Defaults);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEPTEXT_H
