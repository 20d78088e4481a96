#ifndef FREESTONE_COMPILER_SIMPLIFY_COUNTERS_H
#define FREESTONE_COMPILER_SIMPLIFY_COUNTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::graph {

/// Adds to a counter of a function, the attribute `graph.NAME`: LLVM's own statistics are compiled out of release
/// builds. Counters of 0 are not stored.
void count(mlir::func::FuncOp function, llvm::StringRef name, int64_t amount);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_SIMPLIFY_COUNTERS_H
