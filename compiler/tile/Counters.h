#ifndef FREESTONE_COMPILER_TILE_COUNTERS_H
#define FREESTONE_COMPILER_TILE_COUNTERS_H

#include "mlir/IR/Operation.h"

namespace freestone::tile {

/// Adds to a counter of a function or module, stored as the attribute `tile.counters`: LLVM's own statistics are
/// compiled out of release builds. Counters of 0 are not stored.
void count(mlir::Operation *op, llvm::StringRef name, int64_t amount);

/// Moves the counters of an operation to its module, summed over all functions.
void moveCounters(mlir::Operation *from, mlir::Operation *module);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COUNTERS_H
