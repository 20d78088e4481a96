#ifndef FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H
#define FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H

#include "compiler/grad/Optimizers.h"
#include "compiler/training/Parameters.h"
#include "compiler/weights/WeightStore.h"

namespace freestone::training {

enum class LossKind {
  SoftmaxCrossEntropy,
  NegativeLogLikelihood,
  SigmoidCrossEntropy,
  MeanSquaredError,
  L1,
  Huber,
  Cosine,
  /// An output of the model is the loss itself.
  Output
};

/// By the name on the command line (`softmax-cross-entropy`, `nll`, `sigmoid-cross-entropy`, `mse`, `l1`, `huber`, `cosine`);
/// nothing for others.
std::optional<LossKind> getLossKind(llvm::StringRef name);

struct LossChoice {
  LossKind kind = LossKind::SoftmaxCrossEntropy;
  /// The output that the loss takes (or is); empty: the only one.
  std::string output;
  /// The input that the labels become.
  std::string labels = "labels";
  /// Their element type; null: i64 for classes, that of the predictions else.
  mlir::Type labelType;
  /// The dimension of the classes; without it, the only one without which the predictions have the labels' shape; where that
  /// is not known, the last of predictions of rank 3 (`[b, s, V]`), else dimension 1.
  std::optional<int64_t> classAxis;
  /// What is known of the labels' shape: their rank in numbers, -1 for sizes that vary. Empty: nothing.
  llvm::SmallVector<int64_t> labelShape;
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
  double huberDelta = 1;
};

struct StepChoice {
  LossChoice loss;
  /// The kind and its flags; its numbers become inputs of the step.
  grad::Optimizer optimizer;
  /// Scale the loss, and skip steps whose gradients overflow, by the schedule of PyTorch's GradScaler.
  bool scaleLoss = false;
};

/// A number that the step takes as an input of rank 0, so that it may change from step to step.
struct Hyperparameter {
  std::string name;
  double value;
};

/// Names of the step's own inputs and outputs; none is a name of the model's.
struct StepPorts {
  std::string labels;
  std::vector<Hyperparameter> hyperparameters;
  /// Whether the step draws random numbers: it then takes `seed`, an i64 of rank 0.
  bool takesSeed = false;
  /// The number of classes, of losses over classes, where it is a constant.
  std::optional<int64_t> classes;
};

/// Turns `step`, the function of a model in the form in which it is trained, into one training step, and `evaluation`, the same
/// model in the form in which it is used, into one that measures a batch. Both take the labels as a further input.
/// What is updated is kept as states; nothing else is written. Random numbers follow from the seed, the number of steps done and
/// the operator.
///
/// The trained parameters become states under their names, which begin as the weights; so do `optimizer/NAME/PARAMETER`,
/// `optimizer/step` (i64, steps done) and, with loss scaling, `loss_scale` (f32) and `growth_tracker` (i32). Initial values that
/// are not zero are added to `weights`.
///
/// The step has the outputs `loss` (the mean over all counted elements), `gradient_norm` (before clipping), `skipped` (i1: a
/// gradient was not finite, and every state but the loss scale stayed as it was, to the bit) and `scale`, all of rank 0. It
/// takes `learning_rate`, `clip_norm` and the optimizer's numbers as f64 of rank 0. The evaluation has `loss_sum`, `count` and,
/// for losses over classes, `correct`.
///
/// Fails with a sentence for the user: no such output, predictions without a class axis, no trained parameter.
llvm::FailureOr<StepPorts> buildTrainingStep(mlir::func::FuncOp step, mlir::func::FuncOp evaluation, const StepChoice &choice,
                                             llvm::ArrayRef<Parameter> parameters, WeightStore &weights, std::string &error);

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_TRAININGSTEP_H
