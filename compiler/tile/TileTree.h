#ifndef FREESTONE_COMPILER_TILE_TILETREE_H
#define FREESTONE_COMPILER_TILE_TILETREE_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The tree of tiles of a connected program. Rows of the first contraction are dealt, a panel at a time; its columns,
/// which the second one sums over, are computed in blocks that stay in L1.
TreeTilingAttr tileTree(ProgramOp program, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILETREE_H
