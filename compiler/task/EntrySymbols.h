#ifndef FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H
#define FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H

#include "compiler/dialect/task/TaskDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::task {

/// The symbols of a function that becomes an entry.
struct EntrySymbols {
  /// Each with what binds it: an element of an integer input (`graph.value_symbols`), the first input dimension that is
  /// just this symbol, or a call that `binds` it while running; which buffer that writes is not known yet.
  llvm::SmallVector<mlir::Attribute> bound;
  /// [name, size] for each one in use of `graph.definitions`; null if there are none.
  mlir::ArrayAttr definitions;
};

/// Fails with a message on a symbol that nothing binds.
mlir::FailureOr<EntrySymbols> collectEntrySymbols(mlir::func::FuncOp function);

/// [actual, expected, text that names the actual one] for each pair of sizes of `graph.assertions`; null if there are
/// none.
mlir::ArrayAttr entryAssertions(mlir::func::FuncOp function);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ENTRYSYMBOLS_H
