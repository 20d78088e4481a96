#ifndef FREESTONE_COMPILER_TILE_ALIASES_H
#define FREESTONE_COMPILER_TILE_ALIASES_H

#include "mlir/IR/Value.h"

namespace freestone::tile {

/// The value whose memory this one is: reshapes and views are free.
mlir::Value getMemory(mlir::Value value);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ALIASES_H
