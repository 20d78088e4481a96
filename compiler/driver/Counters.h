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

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COUNTERS_H
