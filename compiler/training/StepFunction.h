#ifndef FREESTONE_COMPILER_TRAINING_STEPFUNCTION_H
#define FREESTONE_COMPILER_TRAINING_STEPFUNCTION_H

#include "compiler/expressions/Expressions.h"
#include "compiler/training/Parameters.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::training {

/// A function of a model that gets further inputs, states and outputs. New operators go before its return; its old
/// outputs are dropped by `finish`.
class StepFunction {
public:
  explicit StepFunction(mlir::func::FuncOp function);

  expressions::GraphBuilder &builder() { return ir; }
  mlir::func::FuncOp getFunction() { return function; }
  /// An output of the model by name, or the only one where the name is empty. Null with a sentence if there is none.
  expressions::Tensor findOutput(llvm::StringRef name, std::string &error);

  /// Of the model; null if there is none.
  expressions::Tensor lookupOutput(llvm::StringRef name);
  expressions::Tensor lookupInput(llvm::StringRef name);
  /// A name that two inputs have.
  std::optional<llvm::StringRef> findDoubledInput();

  expressions::Tensor addInput(llvm::StringRef name, graph::TensorType type);
  /// `initial` names the weight that the state begins as; empty: zeros.
  expressions::Tensor addState(llvm::StringRef name, graph::TensorType type, llvm::StringRef initial = "");
  /// The value of a state after the run. Each state at most once.
  void updateState(llvm::StringRef name, expressions::Tensor value) {
    results.push_back({name.str(), true, value.value()});
  }
  void addOutput(llvm::StringRef name, expressions::Tensor value) {
    results.push_back({name.str(), false, value.value()});
  }

  /// A weight becomes a state that begins as it; returns the old value.
  expressions::Tensor takeWeight(llvm::StringRef name, graph::TensorType type);
  /// The states that the model's own form of training gives new values: statistics.
  std::vector<std::pair<std::string, graph::TensorType>> getUpdatedStates() const;

  /// These stay as they are where `skip` holds. All of them must be states already.
  void keepStatistics(expressions::Tensor skip);

  /// Whether the model draws random numbers.
  bool hasRandomKey() { return bool(findRandomKey()); }
  /// The model's random numbers follow from these, both i64 of rank 0: arguments, or the seed computed of arguments at
  /// the start.
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
  /// The first ones are the model's own states.
  std::vector<Result> results;
  size_t statisticsCount = 0;
};

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_STEPFUNCTION_H
