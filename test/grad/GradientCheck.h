#ifndef FREESTONE_TEST_GRAD_GRADIENTCHECK_H
#define FREESTONE_TEST_GRAD_GRADIENTCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/interpreter/RunText.h"
#include <map>

namespace freestone::grad {

/// The values of a function's symbols in one run.
using Sizes = std::map<std::string, int64_t>;

/// Compares gradients with central differences, both by the interpreter in double precision.
///
/// Functions are given as the text of @main after its name. Floats of its arguments are drawn from [-1, 1], or from
/// `{test.range = [lo, hi]}` of the argument; integers from 0 below `{test.below = "n"}`, a symbol or a number; with
/// `{test.fixed}` an argument is not differentiated.
class GradientCheck : public interpreter::RunText {
protected:
  GradientCheck() { context.allowUnregisteredDialects(); }

  /// Checks the gradients of a randomly weighted sum of all results with respect to all float arguments: at primes, at
  /// ones, at mixed sizes, at two random draws up to 9, and with `empty` at a size of 0.
  void check(llvm::StringRef text, bool empty = true);
  /// As check, at these sizes.
  void checkAt(llvm::StringRef text, const Sizes &sizes);
  /// As check, for the sum of squares of the first gradients: second derivatives.
  void checkTwice(llvm::StringRef text);

  /// The gradients of the sum of the first result with respect to all arguments that are not fixed, for given inputs.
  std::vector<std::vector<double>> differentiateAt(llvm::StringRef text,
                                                   llvm::ArrayRef<interpreter::HostTensor> inputs);
  /// The diagnostic of a failed differentiation; empty if it succeeds.
  std::string getRefusal(llvm::StringRef text);

  /// Evaluates the operators that `build` makes from arguments of the types in `signature`; floats are not rounded
  /// between operators.
  using Build = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange)>;
  std::vector<interpreter::HostTensor> runBuilt(llvm::ArrayRef<std::string> signature, Build build,
                                                llvm::ArrayRef<interpreter::HostTensor> inputs);

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);
  std::vector<interpreter::HostTensor> drawInputs(mlir::func::FuncOp function, const Sizes &sizes, uint64_t seed);
  /// Makes the weighted sum of all float results the only result; the weights become arguments.
  void makeLoss(mlir::func::FuncOp function);
  /// Appends the gradients with respect to the arguments that are neither fixed nor weights of the sum.
  llvm::LogicalResult addGradients(mlir::func::FuncOp function);
  /// Compares the gradients, all results but the first, with central differences of the first.
  void compare(mlir::func::FuncOp function, const Sizes &sizes);
  std::vector<unsigned> getWanted(mlir::func::FuncOp function);
};

} // namespace freestone::grad

#endif // FREESTONE_TEST_GRAD_GRADIENTCHECK_H
