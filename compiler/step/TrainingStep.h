#ifndef FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H
#define FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H

#include "compiler/step/ModelLoss.h"
#include "compiler/step/Updates.h"

namespace freestone::step {

struct StepChoice {
  LossChoice loss;
  OptimizerChoice optimizer;
  /// f16 or bf16, in which products are computed; null: in the types of the model.
  mlir::FloatType precision;
  /// Scale the loss, and skip steps whose gradients overflow, by the schedule of PyTorch's GradScaler.
  bool scaleLoss = false;
  /// The gradients of several batches may be summed before an update.
  bool accumulate = false;
};

/// Names of the step's own inputs and outputs; none is a name of the model's.
struct StepPorts {
  std::string labels;
  std::vector<Hyperparameter> hyperparameters;
  /// Whether the step draws random numbers: it then takes `seed`, an i64 of rank 0.
  bool takesSeed = false;
  /// The number of classes, of losses over classes, where it is a constant.
  std::optional<int64_t> classes;
  /// Contractions and convolutions of the model that are computed in the chosen precision.
  int64_t narrowProducts = 0;
};

/// The functions that a training step is made of: the model in the form in which it is trained, which becomes one step;
/// the same once more, which sums gradients, or null where the choice says that nothing is accumulated; and the model
/// in the form in which it is used, which measures a batch.
struct StepFunctions {
  mlir::func::FuncOp step, accumulate, evaluation;
};

/// Turns functions of a model into those of a training step. All take the labels as a further input. What is updated is
/// kept as states; nothing else is written. Random numbers follow from the seed, the number of steps done, the batch
/// that is accumulated and the operator. The evaluation is computed in the types of the model.
///
/// The trained parameters become states under their names, which begin as the weights; so do
/// `optimizer/NAME/PARAMETER`, `optimizer/step` (i64, steps done) and, with loss scaling, `loss_scale` (f32) and
/// `growth_tracker` (i32). Initial values that are not zero are added to `weights`.
///
/// The step has the outputs `loss` (the mean over all counted elements), `gradient_norm` (before clipping), `skipped`
/// (i1: a gradient, or the norm of all, was not finite, and every state but those of loss scaling stayed as it was, to
/// the bit), `not_finite` (i64: the first of the trained parameters whose gradient was not, else -1) and, with loss
/// scaling, `scale` (that of the next step), all of rank 0. It takes `learning_rate`, `clip_norm`, the optimizer's
/// numbers and those of loss scaling as f64 of rank 0. The evaluation has `loss_sum`, `count` and, for losses over
/// classes, `correct` of so many `labels` that are not ignored.
///
/// `accumulate` adds the gradients of its batch to states `accumulated/…`, which the step adds to its own and sets to
/// 0: the mean is over the elements of all batches since the last step. A loss that is an output of the model, or of a
/// graph that gives no count, is one element of each batch.
///
/// Fails with a sentence for the user: see `buildModelLoss` and `Updates`; no trained parameter.
llvm::FailureOr<StepPorts> buildTrainingStep(const StepFunctions &functions, const StepChoice &choice,
                                             llvm::ArrayRef<Parameter> parameters, WeightStore &weights,
                                             std::string &error);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H
