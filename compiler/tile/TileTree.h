#ifndef FREESTONE_COMPILER_TILE_TILETREE_H
#define FREESTONE_COMPILER_TILE_TILETREE_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The tree of tiles of a connection. Intermediates are computed in blocks that stay in the cache: of columns, a panel
/// of rows at a time. Rows are dealt, unless they are summed: then outer axes alone.
/// With `skipMasked`, blocks whose values are masked as a whole are left out.
TreeTilingAttr tileTree(ProgramOp program, const DeviceDescription &device, bool skipMasked);

/// Whether a tree leaves out blocks that are masked.
bool leavesOutBlocks(TreeTilingAttr tree);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILETREE_H
