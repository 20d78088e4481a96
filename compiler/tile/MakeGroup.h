#ifndef FREESTONE_COMPILER_TILE_MAKEGROUP_H
#define FREESTONE_COMPILER_TILE_MAKEGROUP_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Moves computes of one block into one operation, where the last of them stands; results that others use leave it.
/// Nothing may lead from one member to another over an operation that is none.
GroupOp makeGroup(llvm::SmallVector<ComputeOp> members);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_MAKEGROUP_H
