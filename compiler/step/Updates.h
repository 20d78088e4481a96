#ifndef FREESTONE_COMPILER_STEP_UPDATES_H
#define FREESTONE_COMPILER_STEP_UPDATES_H

#include "compiler/step/FilledState.h"
#include "compiler/step/GraphUpdate.h"

namespace freestone::step {

/// A number that the step takes as an input of rank 0, so that it may change from step to step.
struct Hyperparameter {
  std::string name;
  double value;
};

/// Parameters with their own numbers, chosen by a name pattern.
struct GroupChoice {
  std::string pattern;
  std::map<std::string, double> numbers;
};

struct OptimizerChoice {
  /// Kind and flags of a built-in optimizer; its numbers become inputs of the step.
  grad::Optimizer builtIn;
  /// An imported `func @main` in place of a built-in optimizer, as in GraphUpdate; null: none.
  mlir::func::FuncOp graph;
  /// The numbers of the graph, by input name.
  std::map<std::string, double> numbers;
  std::optional<double> learningRate;
  std::vector<GroupChoice> groups;
  /// bf16 for moments; null: the parameters' types.
  mlir::FloatType moments;
};

/// Builds the optimizer's part of a step, parameter by parameter.
class Updates {
public:
  Updates(const OptimizerChoice &choice, StepFunction &function, WeightStore &weights, std::string &error)
      : choice(choice), function(function), weights(weights), error(error) {}

  /// Makes numbers that may change from step to step inputs: `weight_decay`, and `weight_decay/PATTERN` of a group,
  /// whose learning rate is that of the step times `learning_rate_factor/PATTERN`. Fails with a sentence for a number
  /// that the optimizer does not have.
  mlir::LogicalResult takeNumbers(std::vector<Hyperparameter> &numbers);
  /// Updates one parameter and its states `optimizer/NAME/PARAMETER`; `gradient` is unscaled and clipped. Fails with a
  /// sentence where the graph does not fit the parameter.
  mlir::LogicalResult build(const Parameter &parameter, expressions::Tensor value, expressions::Tensor gradient,
                            grad::StepValues values);

private:
  /// The numbers of one group.
  struct Numbers {
    grad::Optimizer builtIn;
    GraphUpdate::Numbers ofGraph;
    expressions::Tensor rateFactor;
  };

  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
  mlir::LogicalResult takeGraphNumbers(std::vector<Hyperparameter> &numbers);
  mlir::LogicalResult takeGroup(const GroupChoice &group, std::vector<Hyperparameter> &numbers);
  expressions::Tensor addNumber(std::vector<Hyperparameter> &numbers, llvm::StringRef name, double value);
  void buildBuiltIn(const Parameter &parameter, const Numbers &numbers, expressions::Tensor value,
                    expressions::Tensor gradient, const grad::StepValues &values);

  const OptimizerChoice &choice;
  StepFunction &function;
  WeightStore &weights;
  std::string &error;
  Numbers base;
  std::map<std::string, Numbers> groups;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_UPDATES_H
