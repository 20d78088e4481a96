// Evaluation of graph operators and of computes of the tile level, family by family. Operands have the sizes of their
// types; a result has the sizes of its type, or, where they depend on data, those that the evaluation finds.
#ifndef FREESTONE_COMPILER_INTERPRETER_EVALUATE_H
#define FREESTONE_COMPILER_INTERPRETER_EVALUATE_H

#include "compiler/interpreter/Symbols.h"
#include "compiler/interpreter/Tensor.h"

namespace freestone {
class WeightStore;
} // namespace freestone

namespace freestone::interpreter {

using Tensors = llvm::SmallVector<Tensor, 1>;

/// The inputs of an evaluation: operands and values of the symbols.
struct Context {
  llvm::ArrayRef<Tensor> operands;
  const Symbols &symbols;
  const WeightStore &weights;

  /// The sizes of a result.
  mlir::FailureOr<Dims> getResultDims(mlir::Operation *op, unsigned result = 0) const {
    return symbols.getDims(op, llvm::cast<graph::TensorType>(op->getResult(result).getType()).getShape());
  }
};

/// Each evaluates the operations of one family; nothing for other operations.
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

/// Advances a row-major index by one element; false after the last.
bool advance(llvm::MutableArrayRef<int64_t> index, llvm::ArrayRef<int64_t> dims);

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_EVALUATE_H
