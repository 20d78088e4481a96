// The operators of the graph, and computes of the tile level, evaluated family by family. Operands come with the sizes
// that their types say; a result has the sizes that the type of the operation says, or, where the operation finds them
// out, those that come out.
#ifndef FREESTONE_COMPILER_INTERPRETER_EVALUATE_H
#define FREESTONE_COMPILER_INTERPRETER_EVALUATE_H

#include "compiler/interpreter/Symbols.h"
#include "compiler/interpreter/Tensor.h"

namespace freestone {
class WeightStore;
} // namespace freestone

namespace freestone::interpreter {

using Tensors = llvm::SmallVector<Tensor, 1>;

/// What an operation sees: its operands and the values of the symbols.
struct Context {
  llvm::ArrayRef<Tensor> operands;
  const Symbols &symbols;
  const WeightStore &weights;

  /// The sizes of a result.
  mlir::FailureOr<Dims> getResultDims(mlir::Operation *op, unsigned result = 0) const {
    return symbols.getDims(op, llvm::cast<graph::TensorType>(op->getResult(result).getType()).getShape());
  }
};

/// Each evaluates the operations of one family, and gives nothing of others.
std::optional<mlir::FailureOr<Tensors>> evaluateContraction(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateElementwise(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateIndexing(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateOrdering(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateReduction(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateShape(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateSources(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateTile(mlir::Operation *op, const Context &context);
std::optional<mlir::FailureOr<Tensors>> evaluateWindow(mlir::Operation *op, const Context &context);

/// Dimension i of the result is dimension `permutation[i]`.
Tensor transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);

/// Moves a row-major index on by one; false after the last.
bool advance(llvm::MutableArrayRef<int64_t> index, llvm::ArrayRef<int64_t> dims);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_EVALUATE_H
