#ifndef FREESTONE_COMPILER_PIPE_CUTFUNCTION_H
#define FREESTONE_COMPILER_PIPE_CUTFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::pipe {

/// Values of at most so many elements count as small.
inline constexpr int64_t smallElements = 64;
bool isSmall(mlir::Value value);

/// The values that an operation reads, within its regions too.
llvm::SmallVector<mlir::Value> getOperandsFromOutside(mlir::Operation *op);

/// The operations that are made anew wherever their results are needed: aliases, constants, computes that read nothing,
/// and computes of small values from small arguments that every stage has (inputs, and states of the whole step), or,
/// with `fromComputed`, from other small values too.
class FreeOperations {
public:
  FreeOperations(mlir::func::FuncOp function, bool fromComputed = false)
      : function(function), fromComputed(fromComputed) {}

  bool isFree(mlir::Operation *op);
  /// An operation that is computed once, whatever it is.
  void keep(mlir::Operation *op) { known[op] = false; }
  /// The values behind a value through free operations: arguments, and results of other operations.
  void collectSources(mlir::Value value, llvm::SetVector<mlir::Value> &sources);
  llvm::SetVector<mlir::Value> getSources(mlir::ValueRange values);
  /// The values behind all that an operation reads.
  llvm::SetVector<mlir::Value> getSources(mlir::Operation *op) { return getSources(getOperandsFromOutside(op)); }

private:
  bool isEverywhere(mlir::Value value);

  mlir::func::FuncOp function;
  bool fromComputed;
  llvm::DenseMap<mlir::Operation *, bool> known;
};

/// The state that an argument holds, and what it is in the step (see step/TrainingStep.h).
struct State {
  llvm::StringRef name;
  /// Empty: a parameter, or what an optimizer keeps of one.
  llvm::StringRef role;
  /// The number of the parameter; -1: unknown.
  int64_t parameter = -1;
};
std::optional<State> getState(mlir::func::FuncOp function, mlir::Value value);
std::optional<State> getReturnedState(mlir::func::FuncOp function, unsigned result);

/// A function that becomes several: each operation that is not free belongs to one part.
struct Cut {
  explicit Cut(mlir::func::FuncOp source) : source(source) {}

  mlir::func::FuncOp source;
  /// The names of the parts' functions, in the order in which they run.
  llvm::SmallVector<std::string> parts;
  llvm::DenseMap<mlir::Operation *, unsigned> partOf;
  /// The parts that return each result of the source.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> returnedBy;
};

/// Numbers the values that go from part to part: `pipe/0`, `pipe/1`, …
class ValueNames {
public:
  mlir::StringAttr get(mlir::Value value);
  /// Forgets the values of a function that will be erased, but no number.
  void forgetValues() { names.clear(); }

private:
  llvm::DenseMap<mlir::Value, mlir::StringAttr> names;
  int64_t next = 0;
};

/// The symbols that are dimensions of a function's inputs, in their order.
llvm::SetVector<llvm::StringRef> getInputSymbols(mlir::func::FuncOp function);

/// Creates the functions of all parts behind the source, which stays. A part takes the arguments of the source that it
/// needs, values of other parts as inputs `pipe/N`, and, where the source's inputs have symbolic sizes, `pipe/sizes`: a
/// tensor without elements whose dimensions are these symbols, then 0. It returns its share of the source's results,
/// and what other parts need as outputs `pipe/N`. Parts without operations and results are left out.
llvm::SmallVector<mlir::func::FuncOp> cutFunction(const Cut &cut, FreeOperations &free, ValueNames &names);

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_CUTFUNCTION_H
