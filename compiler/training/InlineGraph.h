#ifndef FREESTONE_COMPILER_TRAINING_INLINEGRAPH_H
#define FREESTONE_COMPILER_TRAINING_INLINEGRAPH_H

#include "compiler/training/StepFunction.h"

namespace freestone::training {

/// A graph that the user gives besides the model, on its way into a function of a step. Its inputs get values one after
/// the other, whose sizes its own sizes then are; sizes that none of them tells become sizes of the function.
class GraphInlining {
public:
  /// `graph` is an imported `func @main` of one block.
  GraphInlining(mlir::func::FuncOp graph, StepFunction &into);

  unsigned getInputCount() { return graph.getNumArguments(); }
  llvm::StringRef getInputName(unsigned index);
  /// As the graph declares it.
  graph::TensorType getInputType(unsigned index);
  std::optional<unsigned> findInput(llvm::StringRef name);
  /// "'x', 'y'".
  std::string describeInputs();

  /// Fails with a sentence where the value is of another rank or type than the input, floats of other widths aside, or
  /// has sizes that do not fit.
  mlir::LogicalResult setInput(unsigned index, expressions::Tensor value, std::string &error);
  bool isSet(unsigned index) const { return bool(values[index]); }
  /// The input in sizes of the function, once all values that tell them have been set.
  graph::TensorType getFinalType(unsigned index);

  /// Puts the graph's operators into the function. All inputs must be set. Fails with a sentence where sizes contradict
  /// each other or depend on data.
  mlir::LogicalResult inlineBody(std::string &error);
  /// An output by name after `inlineBody`; null if there is none.
  expressions::Tensor findOutput(llvm::StringRef name);
  llvm::ArrayRef<std::pair<std::string, expressions::Tensor>> getOutputs() const { return outputs; }

private:
  std::optional<sym::Expr> replace(llvm::StringRef symbol);
  void settleSizes();
  mlir::LogicalResult addAssertions(std::string &error);

  mlir::func::FuncOp graph;
  StepFunction &into;
  llvm::SmallVector<expressions::Tensor> values;
  llvm::StringMap<sym::Expr> sizes;
  std::vector<std::pair<std::string, expressions::Tensor>> outputs;
};

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_INLINEGRAPH_H
