#ifndef FREESTONE_COMPILER_TRAINING_MODELLOSS_H
#define FREESTONE_COMPILER_TRAINING_MODELLOSS_H

#include "compiler/grad/Losses.h"
#include "compiler/training/StepFunction.h"
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
  Output,
  /// A graph of the user's.
  Graph
};

/// By the name on the command line (`softmax-cross-entropy`, `nll`, `sigmoid-cross-entropy`, `mse`, `l1`, `huber`,
/// `cosine`); nothing for others.
std::optional<LossKind> getLossKind(llvm::StringRef name);

struct LossChoice {
  LossKind kind = LossKind::SoftmaxCrossEntropy;
  /// An imported `func @main`, for the kind Graph. Its inputs are outputs of the model by their names (the first is
  /// that of `output` if none has such a name), inputs of the model, and arrays of the data. Its output is the loss of
  /// a batch, one element; or there are two, the sum over what counts and how much counts.
  mlir::func::FuncOp graph;
  /// The output that the loss takes (or is); empty: the only one.
  std::string output;
  /// The input that the labels become.
  std::string labels = "labels";
  /// Their element type; null: i64 for classes, that of the predictions else.
  mlir::Type labelType;
  /// The dimension of the classes; without it, the only one behind the first without which the predictions have the
  /// labels' shape, or of several the only one that is a constant. Where nothing is known of the labels, all fit.
  std::optional<int64_t> classAxis;
  /// What is known of the labels' shape: their rank in numbers, -1 for sizes that vary. Empty: nothing.
  llvm::SmallVector<int64_t> labelShape;
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
  /// One number for each class, of losses over classes; empty: all count alike.
  llvm::SmallVector<double> classWeights;
  double huberDelta = 1;
};

inline bool isOverClasses(LossKind kind) {
  return kind == LossKind::SoftmaxCrossEntropy || kind == LossKind::NegativeLogLikelihood;
}

/// Whether the labels are named by the choice.
inline bool takesLabels(LossKind kind) { return kind != LossKind::Output && kind != LossKind::Graph; }

/// The loss of a function of the model, and the predictions and labels that it compares.
struct ModelLoss {
  grad::Loss loss;
  expressions::Tensor predictions, labels;
  /// The input that the labels are; empty where nothing, or more than one array, is given besides the model's inputs.
  std::string labelName;
  int64_t classAxis = 0;
  /// Their number, where it is a constant.
  std::optional<int64_t> classes;
};

/// Builds the loss of what the function gives; the labels become an input of it, class weights one of `weights`. Fails
/// with a sentence for the user: no such output, predictions without a class axis, another number of class weights than
/// of classes.
llvm::FailureOr<ModelLoss> buildModelLoss(StepFunction &function, const LossChoice &choice, WeightStore &weights,
                                          std::string &error);

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_MODELLOSS_H
