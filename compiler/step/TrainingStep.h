#ifndef FREESTONE_COMPILER_STEP_TRAININGSTEP_H
#define FREESTONE_COMPILER_STEP_TRAININGSTEP_H

#include "compiler/step/ModelLoss.h"
#include "compiler/step/Updates.h"

namespace freestone::step {

/// Attributes of arguments and results of an update that is apart, and of its gradients, which tell what a state is
/// without its name: `step.role`, one of the following, and `step.parameter`, the number of a trained parameter, of the
/// parameter and of the sum of its gradients.
inline constexpr llvm::StringLiteral roleAttr = "step.role", parameterAttr = "step.parameter";
/// The sum of a parameter's gradients; that of the loss, and the count of its elements; a number of the whole step,
/// such as how many are done.
inline constexpr llvm::StringLiteral gradientRole = "gradient", lossRole = "loss", stepRole = "step";

struct StepChoice {
  LossChoice loss;
  OptimizerChoice optimizer;
  /// f16 or bf16 for products; null: the model's types.
  mlir::FloatType precision;
  /// Scale the loss, and skip steps whose gradients overflow, by the schedule of PyTorch's GradScaler.
  bool scaleLoss = false;
  /// The gradients of several batches may be summed before an update.
  bool accumulate = false;
  /// Gradients and the update are functions of their own, so that the gradients may be cut into stages of a pipeline.
  bool apart = false;
  /// Each parameter is updated as soon as its gradient is known, so that gradients do not live together (Lv et al.,
  /// "Full Parameter Fine-tuning for Large Language Models with Limited Resources", 2023). The norm of all is known
  /// too late to clip by, or to scale the loss; with `accumulate` or `apart` there is no such update.
  bool updatesEarly = false;
};

/// Names of the step's own inputs and outputs, all distinct from the model's.
struct StepPorts {
  std::string labels;
  std::vector<Hyperparameter> hyperparameters;
  /// Whether the step draws random numbers: it then takes `seed`, an i64 of rank 0.
  bool takesSeed = false;
  /// The number of classes where it is constant, for losses over classes.
  std::optional<int64_t> classes;
  /// The number of contractions and convolutions computed in the chosen precision.
  int64_t narrowProducts = 0;
};

/// The functions from which a training step is made: the model in training form, which becomes the step; a second copy
/// of it for gradient accumulation, or null without it; the model in inference form for evaluation; and an empty
/// function for an update that is apart, or null.
struct StepFunctions {
  mlir::func::FuncOp step, accumulate, evaluation, update;
};

/// Turns functions of a model into those of a training step. All take the labels as a further input. Everything updated
/// is a state; nothing else is written. Random numbers depend on the seed, the number of steps done, the accumulated
/// batch and the operator. The evaluation computes in the model's types.
///
/// Trained parameters become states under their names, with the weights as first values; further states are
/// `optimizer/NAME/PARAMETER`, `optimizer/step` (i64, steps done) and, with loss scaling, `loss_scale` (f32) and
/// `growth_tracker` (i32). First values other than zero are added to `weights`.
///
/// Outputs of the step, all of rank 0: `loss` (mean over all counted elements), `gradient_norm` (before clipping),
/// `skipped` (i1: a gradient, or the norm of all, was not finite; every state but those of loss scaling is then
/// unchanged, bit for bit), `not_finite` (i64: index of the first trained parameter whose gradient was not finite, else
/// -1) and, with loss scaling, `scale` (that of the next step). It takes `learning_rate`, `clip_norm`, the optimizer's
/// numbers and those of loss scaling as f64 of rank 0. The evaluation has the outputs `loss_sum`, `count` and, for
/// losses over classes, `correct` and `labels` (the number of labels that are not ignored).
///
/// With `updatesEarly`, `skipped` means that some gradient was not finite: its parameter, and the optimizer's states of
/// it, are then unchanged, as are the steps done and the model's own statistics. There is no `clip_norm`.
///
/// `accumulate` adds the gradients of its batch to states `accumulated/…`, which the step adds to its own gradients and
/// resets to 0: the mean is over the elements of all batches since the last step. A loss that is an output of the
/// model, or of a graph without a count, is one element of each batch.
///
/// Where the update is `apart`, the step only adds the gradients of a micro-batch's summed loss to `accumulated/…`, and
/// takes the number of the micro-batch, `micro_batch`, for its random numbers; the update has the step's outputs and
/// numbers. The model's own statistics are then updated as `pending/NAME`, which an update that is not skipped adopts.
///
/// Fails with a sentence for the user: see `buildModelLoss` and `Updates`; no trained parameter.
llvm::FailureOr<StepPorts> buildTrainingStep(const StepFunctions &functions, const StepChoice &choice,
                                             llvm::ArrayRef<Parameter> parameters, WeightStore &weights,
                                             std::string &error);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_TRAININGSTEP_H
