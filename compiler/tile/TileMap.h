#ifndef FREESTONE_COMPILER_TILE_TILEMAP_H
#define FREESTONE_COMPILER_TILE_TILEMAP_H

#include "compiler/tile/TileLoops.h"

namespace freestone::tile {

/// The tiling of computes with equal parallel loops.
MapTilingAttr tileMap(llvm::ArrayRef<ComputeOp> computes, const DeviceDescription &device, LoopTilings allowed);

/// Whether the rows of a map have few segments, whose code is short, also when its body costs so much more.
bool hasShortSegments(ComputeOp map, int64_t more);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEMAP_H
