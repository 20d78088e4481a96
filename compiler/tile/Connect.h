#ifndef FREESTONE_COMPILER_TILE_CONNECT_H
#define FREESTONE_COMPILER_TILE_CONNECT_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The members of a program-to-be, in order.
using Members = llvm::SmallVector<ComputeOp>;

/// Connects groups by tiles (Shi et al., "Welder", OSDI 2023): a contraction, what follows on its result, and a second
/// contraction that sums over its columns become one group, so that the first one's result lives in a cache, tile by
/// tile. A factor of the second one's rows moves behind it. Reductions of the columns in between must allow for blocks
/// of them (see RunningReductions). Returns the number of connections; joined groups are left empty.
int64_t connectGroups(llvm::MutableArrayRef<Members> groups);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONNECT_H
