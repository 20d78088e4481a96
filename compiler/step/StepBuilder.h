#ifndef FREESTONE_COMPILER_STEP_STEPBUILDER_H
#define FREESTONE_COMPILER_STEP_STEPBUILDER_H

#include "compiler/grad/GradientScaling.h"
#include "compiler/step/StepFunction.h"
#include "compiler/step/TrainingStep.h"

namespace freestone::step {

/// Names of states, and their beginnings.
inline constexpr llvm::StringLiteral stepsDoneName = "optimizer/step", accumulatedPrefix = "accumulated/",
                                     pendingPrefix = "pending/";

/// Whether a state is neither a parameter's nor one that is accumulated.
inline bool isOfWholeStep(llvm::StringRef state) {
  return state == stepsDoneName || state == "loss_scale" || state == "growth_tracker";
}

/// The gradients of one batch, with the values behind them.
struct BatchGradients {
  ModelLoss model;
  /// The differentiated loss: the mean over the counted elements of the batch, or their sum where the update is apart.
  expressions::Tensor objective;
  llvm::SmallVector<const Parameter *> trained;
  llvm::SmallVector<expressions::Tensor> parameters;
  llvm::SmallVector<expressions::Tensor> gradients;
  /// The loss scale; null without loss scaling.
  expressions::Tensor scale;
  expressions::Tensor stepsDone;
  /// Batches since the last step; null if the step does not depend on it.
  expressions::Tensor batches;
};

/// The number of counted elements of a batch; 1 where there are none, so that such a batch adds 0 to a sum, not NaN.
expressions::Tensor getCounted(expressions::GraphBuilder &builder, const grad::Loss &loss);
/// Marks the states of a function whose update is apart.
void markStates(mlir::func::FuncOp function, llvm::ArrayRef<Parameter> parameters);

/// Builds the functions of a training step, one after another: the step first, or the gradients of a micro-batch.
class StepBuilder {
public:
  StepBuilder(const StepChoice &choice, llvm::ArrayRef<Parameter> parameters, WeightStore &weights, std::string &error)
      : choice(choice), parameters(parameters), weights(weights), error(error) {}

  llvm::LogicalResult buildStep(mlir::func::FuncOp function);
  llvm::LogicalResult buildAccumulation(mlir::func::FuncOp function);
  /// The gradients of a micro-batch, added to what is accumulated; the update from it, after them.
  llvm::LogicalResult buildMicroBatch(mlir::func::FuncOp function);
  llvm::LogicalResult buildUpdate(mlir::func::FuncOp function);
  llvm::LogicalResult buildEvaluation(mlir::func::FuncOp function);
  StepPorts takePorts() { return std::move(ports); }

private:
  llvm::LogicalResult requireFreeNames(mlir::func::FuncOp source);
  llvm::FailureOr<BatchGradients> buildGradients(StepFunction &function);
  /// The numbers of an update that are inputs; no `clipNorm` of an early one.
  struct UpdateNumbers {
    expressions::Tensor learningRate, clipNorm;
  };
  llvm::FailureOr<UpdateNumbers> takeUpdateNumbers(StepFunction &function, Updates &updates);
  /// Whether a step is skipped, and by what.
  struct SkipDecision {
    /// Of all gradients, without the loss scale.
    expressions::Tensor norm;
    /// Bool of rank 0.
    expressions::Tensor skip;
    /// Sums of squares of each gradient.
    llvm::SmallVector<mlir::Value> squares;
  };
  llvm::LogicalResult buildDecidedUpdate(StepFunction &function, Updates &updates, const UpdateNumbers &numbers,
                                         const BatchGradients &batch);
  llvm::LogicalResult buildEarlyUpdates(StepFunction &function, Updates &updates, const UpdateNumbers &numbers,
                                        const BatchGradients &batch);
  void finishStep(StepFunction &function, const BatchGradients &batch, const SkipDecision &decision);
  void updateAccumulated(StepFunction &function, const BatchGradients &batch);
  expressions::Tensor takeAccumulated(StepFunction &function, llvm::StringRef name, graph::TensorType type) {
    return function.addState((accumulatedPrefix + name).str(), type);
  }
  void provideRandomKey(StepFunction &function, BatchGradients &batch);
  expressions::Tensor takeScalarState(StepFunction &function, llvm::StringRef name, mlir::Type type, double initial);
  void addAccumulated(StepFunction &function, BatchGradients &batch);
  void clearAccumulated(StepFunction &function, const BatchGradients &batch);
  void adoptPending(StepFunction &function, expressions::Tensor skip);
  llvm::LogicalResult takePorts(StepFunction &function, const BatchGradients &batch);
  grad::LossScaleOptions takeScalingNumbers(StepFunction &function);
  expressions::Tensor addNumber(StepFunction &function, llvm::StringRef name, double value);
  llvm::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return llvm::failure();
  }

  const StepChoice &choice;
  llvm::ArrayRef<Parameter> parameters;
  WeightStore &weights;
  std::string &error;
  StepPorts ports;
  /// Weights that the model itself updates in training.
  std::vector<std::pair<std::string, graph::TensorType>> statistics;
  /// Element type of the loss, where the update is apart.
  mlir::Type lossType;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_STEPBUILDER_H
