#ifndef FREESTONE_COMPILER_TASK_RUNTIMESIZES_H
#define FREESTONE_COMPILER_TASK_RUNTIMESIZES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/SymbolicRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::task {

/// How large sizes become that a run determines: memory is planned before it. Symbols without a limit stay, as what has
/// their sizes grows within the run.
class RunTimeSizes {
public:
  /// Of an entry's symbols and definitions.
  RunTimeSizes(llvm::ArrayRef<mlir::Attribute> symbols, mlir::ArrayAttr definitions);

  /// Tells of a name for a size.
  void define(llvm::StringRef name, sym::Expr size);

  /// At least the expression's value, whatever a run determines.
  sym::Expr getGreatest(sym::Expr expr) const;
  /// The same of an expression of a program, with these sizes for its symbols: each by itself, as well as all by what
  /// they have in common.
  sym::Expr getGreatest(sym::Expr expr, llvm::function_ref<std::optional<sym::Expr>(llvm::StringRef)> sizes) const;
  /// A type that holds values of all of these, which have one rank, with its greatest sizes.
  graph::TensorType getGreatest(llvm::ArrayRef<mlir::Type> types) const;
  /// Whether it has symbols without a limit.
  bool isUnlimited(sym::Expr expr) const;
  bool isUnlimited(graph::TensorType type) const;

private:
  sym::SymbolicRange getRange(sym::Expr expr) const;
  sym::Expr getGreatest(llvm::ArrayRef<sym::Expr> sizes) const;

  llvm::StringMap<sym::SymbolicRange> ranges;
  llvm::StringSet<> unlimited;
  sym::Bounds bounds;
  /// By expressions that were asked for: their greatest values, since limits of symbols depend on other symbols, and
  /// what sizes simplify to.
  mutable llvm::DenseMap<sym::Expr, sym::Expr> greatest, simplified;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_RUNTIMESIZES_H
