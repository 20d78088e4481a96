#ifndef FREESTONE_COMPILER_STEP_MODELLOSS_H
#define FREESTONE_COMPILER_STEP_MODELLOSS_H

#include "compiler/grad/Losses.h"
#include "compiler/step/StepFunction.h"
#include "compiler/weights/WeightStore.h"

namespace freestone::step {

enum class LossKind {
  SoftmaxCrossEntropy,
  NegativeLogLikelihood,
  SigmoidCrossEntropy,
  MeanSquaredError,
  L1,
  Huber,
  Cosine,
  /// An output of the model is the loss.
  Output,
  /// A graph given by the user.
  Graph
};

/// Parses the name on the command line (`softmax-cross-entropy`, `nll`, `sigmoid-cross-entropy`, `mse`, `l1`, `huber`,
/// `cosine`); nothing for others.
std::optional<LossKind> getLossKind(llvm::StringRef name);

struct LossChoice {
  LossKind kind = LossKind::SoftmaxCrossEntropy;
  /// An imported `func @main`, for the kind Graph. Its inputs are outputs of the model by name (if none has such a
  /// name, the first input is `output`), inputs of the model, and arrays of the data. It returns the mean loss of a
  /// batch as one element, or two values: the weighted sum of losses and the sum of their weights.
  mlir::func::FuncOp graph;
  /// The output that the loss takes (or is); empty: the model's only output.
  std::string output;
  /// The name of the input for labels.
  std::string labels = "labels";
  /// Element type of the labels; null: i64 for classes, else that of the predictions.
  mlir::Type labelType;
  /// The class axis. Without it: the only axis after the first whose removal gives the labels' shape, or the only
  /// constant one among several. With an unknown label shape all axes fit.
  std::optional<int64_t> classAxis;
  /// The labels' shape as far as it is known, -1 for sizes that vary. Empty: unknown.
  llvm::SmallVector<int64_t> labelShape;
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
  /// One weight for each class, for losses over classes; empty: all 1.
  llvm::SmallVector<double> classWeights;
  double huberDelta = 1;
};

inline bool isOverClasses(LossKind kind) {
  return kind == LossKind::SoftmaxCrossEntropy || kind == LossKind::NegativeLogLikelihood;
}

/// Whether losses of this kind take their labels from `LossChoice::labels`.
inline bool takesLabels(LossKind kind) { return kind != LossKind::Output && kind != LossKind::Graph; }

/// The loss of a model's function, with the predictions and labels that it compares.
struct ModelLoss {
  grad::Loss loss;
  expressions::Tensor predictions, labels;
  /// The input for labels; empty if the loss takes no array besides the model's inputs, or several.
  std::string labelName;
  int64_t classAxis = 0;
  /// The number of classes, where it is constant.
  std::optional<int64_t> classes;
};

/// Builds the loss of a function's outputs; labels become an input of it, class weights an entry of `weights`. Fails
/// with a sentence for the user: no such output, predictions without a class axis, class weights that differ in number
/// from the classes.
llvm::FailureOr<ModelLoss> buildModelLoss(StepFunction &function, const LossChoice &choice, WeightStore &weights,
                                          std::string &error);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_MODELLOSS_H
