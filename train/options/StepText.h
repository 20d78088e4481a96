#ifndef FREESTONE_TRAIN_OPTIONS_STEPTEXT_H
#define FREESTONE_TRAIN_OPTIONS_STEPTEXT_H

#include "freestone/trainer.h"
#include <span>

namespace freestone::train {

/// The labels' type and shape in the data, from which the compiler finds the class axis.
struct LabelFacts {
  std::string type;           ///< element type; empty: unknown
  std::vector<int64_t> sizes; ///< -1 for unknown sizes; empty: unknown rank
};

/// The facts of an array of labels, whose first dimension counts samples. `output` is the shape of the loss's operand
/// as declared in the model's file, -1 for sizes that are not constant. If it determines the class axis, label sizes
/// that vary with the data are left out, since another length is no other step.
LabelFacts describeLabels(std::string type, std::vector<int64_t> shape, std::span<const int64_t> output);

/// Whether the model's own graph computes the loss.
inline bool isModelsOwnLoss(const TrainerOptions &options) { return options.loss.starts_with("output:"); }
/// Whether the loss compares an output of the model with labels from the data.
inline bool takesLabels(const TrainerOptions &options) {
  return !isModelsOwnLoss(options) && !options.loss.starts_with("file:");
}
/// The .onnx file of a loss or an optimizer given as `file:PATH`; empty for others.
std::string graphFile(const std::string &lossOrOptimizer);
/// The graph files of the loss and the optimizer, if any.
std::vector<std::string> graphFiles(const TrainerOptions &options);

/// Whether a number is only the first value of states, and no input of the step.
inline bool isCompiledIn(const std::string &number) { return number == "initial_accumulator_value"; }

/// Whether the optimizer has momentum only if it is given; in PyTorch it always exists, as 0.
inline bool hasOptionalMomentum(const std::string &optimizer) { return optimizer == "sgd" || optimizer == "rmsprop"; }

/// The first numbers of a compiled step.
enum class FirstNumbers {
  Defaults, ///< the optimizer's, so that the step does not depend on the numbers: a run sets its own
  Given,    ///< those of the options, for a step that is run on its own later
};

/// The training step in the compiler's JSON (compiler/driver/TrainingText.h). Throws Error if options contradict each
/// other.
std::string describeStep(const TrainerOptions &options, const LabelFacts &labels = {},
                         FirstNumbers first = FirstNumbers::Defaults);

/// The cut of a step into the stages of a pipeline.
struct StageChoice {
  std::vector<int> stages = {}; ///< of every node of the forward pass; empty: one stage
  int stage = 0;                ///< the one to compile
  bool split = false;           ///< whether gradients of inputs and of weights are entries of their own
  std::vector<int> recompute = {}; ///< the stages whose gradients compute their forward pass anew
  /// For profiles: samples of a micro-batch and the tokens of each, by which times are predicted; 0: unknown.
  int64_t usualBatch = 0, usualLength = 0;
};

/// A stage of the step that `step` describes, in the same JSON.
std::string describeStage(const std::string &step, const StageChoice &choice);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_OPTIONS_STEPTEXT_H
