#ifndef FREESTONE_COMPILER_INTERPRETER_SYMBOLS_H
#define FREESTONE_COMPILER_INTERPRETER_SYMBOLS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/interpreter/Tensor.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::interpreter {

/// The values of the symbols of a running function. A running region is a scope: its bindings end with it.
class Symbols {
public:
  Symbols() : scopes(1) {}

  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }

  void bind(llvm::StringRef symbol, int64_t value) { scopes.back()[symbol] = value; }
  std::optional<int64_t> find(llvm::StringRef symbol) const;
  std::optional<int64_t> evaluate(sym::Expr expr) const;

  /// The value of a size; a diagnostic at `op` if it has none or is negative.
  mlir::FailureOr<int64_t> getSize(mlir::Operation *op, sym::Expr expr) const;
  mlir::FailureOr<Dims> getDims(mlir::Operation *op, llvm::ArrayRef<sym::Expr> shape) const;
  /// The value of an offset, which may be negative.
  mlir::FailureOr<int64_t> getOffset(mlir::Operation *op, sym::Expr expr) const;

  /// Binds the unbound symbols that are whole sizes.
  void bindSizes(llvm::ArrayRef<sym::Expr> shape, llvm::ArrayRef<int64_t> dims);
  /// Requires that sizes match the type, else gives a diagnostic at `op` that names `what`, the expected and the actual
  /// size.
  llvm::LogicalResult require(mlir::Operation *op, const llvm::Twine &what, graph::TensorType type,
                              const Tensor &tensor) const;

private:
  llvm::SmallVector<llvm::StringMap<int64_t>, 1> scopes;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_SYMBOLS_H
