#ifndef FREESTONE_COMPILER_STEP_STEPFUNCTION_H
#define FREESTONE_COMPILER_STEP_STEPFUNCTION_H

#include "compiler/expressions/Expressions.h"
#include "compiler/step/Parameters.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::step {

/// A function of a model, extended by inputs, states and outputs. New operators go before its return; `finish` drops
/// its old outputs.
class StepFunction {
public:
  explicit StepFunction(mlir::func::FuncOp function);

  expressions::GraphBuilder &builder() { return ir; }
  mlir::func::FuncOp getFunction() { return function; }
  /// An output of the model by name, or its only output where the name is empty. Null with a sentence if there is none.
  expressions::Tensor findOutput(llvm::StringRef name, std::string &error);

  /// The model's output of this name; null if there is none.
  expressions::Tensor lookupOutput(llvm::StringRef name);
  expressions::Tensor lookupInput(llvm::StringRef name);
  /// A name that two inputs share.
  std::optional<llvm::StringRef> findDoubledInput();

  expressions::Tensor addInput(llvm::StringRef name, graph::TensorType type);
  /// `initial` names the weight that holds the first value; empty: zeros.
  expressions::Tensor addState(llvm::StringRef name, graph::TensorType type, llvm::StringRef initial = "");
  /// Sets the value of a state after the run, at most once for each state.
  void updateState(llvm::StringRef name, expressions::Tensor value) {
    results.push_back({name.str(), true, value.value()});
  }
  void addOutput(llvm::StringRef name, expressions::Tensor value) {
    results.push_back({name.str(), false, value.value()});
  }

  /// Turns a weight into a state with the weight as its first value; returns the old value.
  expressions::Tensor takeWeight(llvm::StringRef name, graph::TensorType type);
  /// The states that the model itself updates in training: running statistics.
  std::vector<std::pair<std::string, graph::TensorType>> getUpdatedStates() const;

  /// Keeps the old values of these where `skip` holds. All must be states already.
  void keepStatistics(expressions::Tensor skip);
  /// Puts a prefix before the names of these; their first values stay.
  void renameStatistics(llvm::StringRef prefix);

  /// Whether the model draws random numbers.
  bool hasRandomKey() { return bool(findRandomKey()); }
  /// Derives the model's random numbers from seed and step, both i64 of rank 0: arguments, or a seed computed from
  /// arguments at the start.
  void provideRandomKey(expressions::Tensor seed, expressions::Tensor step);

  /// Sets the results and their names.
  void finish();

private:
  struct Result {
    std::string name;
    bool isState;
    mlir::Value value;
  };

  mlir::BlockArgument findState(llvm::StringRef name);

  mlir::BlockArgument findRandomKey();
  expressions::Tensor addArgument(graph::TensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);

  mlir::func::FuncOp function;
  expressions::GraphBuilder ir;
  /// The model's own states come first.
  std::vector<Result> results;
  size_t statisticsCount = 0;
};

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_STEPFUNCTION_H
