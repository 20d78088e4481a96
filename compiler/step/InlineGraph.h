#ifndef FREESTONE_COMPILER_STEP_INLINEGRAPH_H
#define FREESTONE_COMPILER_STEP_INLINEGRAPH_H

#include "compiler/step/StepFunction.h"

namespace freestone::step {

/// A graph given besides the model (a loss, an optimizer), while it is inlined into a function of a step. Its inputs
/// are set one by one and bind its sizes; sizes that no input binds become symbols of the function.
class GraphInlining {
public:
  /// `graph` is an imported `func @main` of one block.
  GraphInlining(mlir::func::FuncOp graph, StepFunction &into);

  unsigned getInputCount() { return graph.getNumArguments(); }
  llvm::StringRef getInputName(unsigned index);
  /// The declared type.
  graph::TensorType getInputType(unsigned index);
  std::optional<unsigned> findInput(llvm::StringRef name);
  /// Quoted names: "'x', 'y'".
  std::string describeInputs();

  /// Fails with a sentence where the value differs from the input in rank, in element type (any float width is
  /// accepted), or in sizes.
  mlir::LogicalResult setInput(unsigned index, expressions::Tensor value, std::string &error);
  bool isSet(unsigned index) const { return bool(values[index]); }
  /// The input's type in symbols of the function, once all values that bind them are set.
  graph::TensorType getFinalType(unsigned index);

  /// Inlines the graph's operators into the function. All inputs must be set. Fails with a sentence where sizes
  /// contradict each other or depend on data.
  mlir::LogicalResult inlineBody(std::string &error);
  /// The output of this name, after `inlineBody`; null if there is none.
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

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_INLINEGRAPH_H
