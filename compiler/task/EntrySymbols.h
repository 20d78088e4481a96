#ifndef FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H
#define FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H

#include "compiler/dialect/task/TaskDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::task {

/// The symbols of a function that becomes an entry.
struct EntrySymbols {
  /// Each with its binding: an element of an input (`graph.value_symbols`), the first input dimension that is
  /// this bare symbol, or a call that `binds` it at run time, whose result buffer is filled in later.
  llvm::SmallVector<mlir::Attribute> bound;
  /// [name, size] of each `graph.definitions` in use; null if there are none.
  mlir::ArrayAttr definitions;
};

/// Fails with a message on a symbol without a binding.
mlir::FailureOr<EntrySymbols> collectEntrySymbols(mlir::func::FuncOp function);

/// [actual, expected, text that names the actual size], of sizes that must be equal for a reason.
mlir::ArrayAttr describeAssertion(sym::Expr actual, sym::Expr expected, llvm::StringRef reason);

/// Such an assertion for each pair of `graph.assertions`; null if there are none.
mlir::ArrayAttr entryAssertions(mlir::func::FuncOp function);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H
