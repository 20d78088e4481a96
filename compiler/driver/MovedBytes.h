#ifndef FREESTONE_COMPILER_DRIVER_MOVEDBYTES_H
#define FREESTONE_COMPILER_DRIVER_MOVEDBYTES_H

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>

namespace freestone::driver {

/// The bytes of tensors that the programs of one run read and write, at hinted or typical sizes, each element once a
/// program (see plan/Traffic): what fusion saves. Of a module with planned programs, at the tile level; constant
/// folding of weights at compile time is left out.
int64_t countMovedBytes(mlir::ModuleOp module);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_MOVEDBYTES_H
