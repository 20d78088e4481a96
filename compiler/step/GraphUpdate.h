#ifndef FREESTONE_COMPILER_STEP_GRAPHUPDATE_H
#define FREESTONE_COMPILER_STEP_GRAPHUPDATE_H

#include "compiler/grad/Optimizers.h"
#include "compiler/step/InlineGraph.h"
#include <map>

namespace freestone::step {

/// The update of one parameter by an optimizer given as a graph. The graph takes `parameter`, `gradient` and optionally
/// `learning_rate`, `step` (the number of this step, from 1), states `state/NAME` that begin as zeros, and floats of
/// one element, which are its numbers. It returns `parameter_new` and `state/NAME_new`. A graph whose parameter has a
/// single dimension takes every parameter flat.
class GraphUpdate {
public:
  using Numbers = std::map<std::string, expressions::Tensor>;

  /// `graph` must have the inputs `parameter` and `gradient`.
  GraphUpdate(mlir::func::FuncOp graph, const Parameter &parameter, StepFunction &function, std::string &error)
      : graph(graph), parameter(parameter), function(function), error(error) {}

  /// Updates the parameter and its states `optimizer/NAME/PARAMETER`. Fails with a sentence where the graph does not
  /// fit the parameter.
  mlir::LogicalResult build(const Numbers &numbers, expressions::Tensor value, expressions::Tensor gradient,
                            const grad::StepValues &step);

  /// Whether the step gives this input a value other than one of the graph's numbers.
  static bool isOfStep(llvm::StringRef input);

private:
  struct State {
    std::string name;
    expressions::Tensor before;
  };

  mlir::LogicalResult fail(const llvm::Twine &why) {
    error = ("the optimizer does not fit '" + parameter.name + "': " + why).str();
    return mlir::failure();
  }
  mlir::LogicalResult chooseShape(expressions::Tensor value);
  expressions::Tensor place(expressions::Tensor tensor);
  expressions::Tensor findScalar(llvm::StringRef input, const Numbers &numbers, const grad::StepValues &step);
  mlir::LogicalResult setInputs(GraphInlining &inlining, const Numbers &numbers, const grad::StepValues &step);
  mlir::FailureOr<expressions::Tensor> takeOutput(GraphInlining &inlining, const std::string &name,
                                                  expressions::Tensor before, mlir::Value skip);

  mlir::func::FuncOp graph;
  const Parameter &parameter;
  StepFunction &function;
  std::string &error;
  /// The graph in the parameter's own shape, if it is valid there.
  mlir::OwningOpRef<mlir::func::FuncOp> inShape;
  bool isFlat = false;
  std::vector<State> states;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_GRAPHUPDATE_H
