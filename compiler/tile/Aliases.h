#ifndef FREESTONE_COMPILER_TILE_ALIASES_H
#define FREESTONE_COMPILER_TILE_ALIASES_H

#include "mlir/IR/Value.h"

namespace freestone::tile {

/// The value that owns the memory of an alias, seen through reshapes and views.
mlir::Value getMemory(mlir::Value value);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ALIASES_H
