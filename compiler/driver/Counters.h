#ifndef FREESTONE_COMPILER_DRIVER_COUNTERS_H
#define FREESTONE_COMPILER_DRIVER_COUNTERS_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <map>
#include <string>

namespace freestone::driver {

/// What the passes did to a module that is now at the task level: what they counted (`tile.counters`), and what the
/// entries tell. The counter of every switch is there, if only as 0.
std::map<std::string, int64_t> collectCounters(mlir::ModuleOp module);

/// Adds what the graph passes noted on functions, which are gone at the task level: operators that the backward pass
/// computes again
/// (`recomputed`), and bytes that are kept for it at the hints, with and without (`kept_bytes`, `kept_bytes_before`).
void collectGraphCounters(mlir::ModuleOp module, std::map<std::string, int64_t> &counters);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COUNTERS_H
