#ifndef FREESTONE_COMPILER_DRIVER_COUNTERS_H
#define FREESTONE_COMPILER_DRIVER_COUNTERS_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <string>

namespace freestone::driver {

/// The counters of all passes on a module that is now at the task level: those that the passes noted (`tile.counters`),
/// and those read off the entries. The counter of every switch is present, if only as 0.
std::map<std::string, int64_t> collectCounters(mlir::ModuleOp module);

/// Adds the counters that the graph passes noted on functions, which no longer exist at the task level: operators
/// recomputed in the backward pass (`recomputed`), bytes kept for it at the hinted sizes, with and without
/// recomputation
/// (`kept_bytes`, `kept_bytes_before`), products that became those of integers (`integer_products`), those that left
/// loops (`scan_products`), blocks that are not put into another order (`block_orders`), products whose
/// batches are split (`split_batches`), softmaxes whose rows are
/// guarded by their sums (`guarded_rows`), sums over a product's other factor (`reassociated`), and values of loops
/// that are kept for their gradients (`kept_values`).
void collectGraphCounters(mlir::ModuleOp module, std::map<std::string, int64_t> &counters);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COUNTERS_H
