#ifndef FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H
#define FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The tiling of computes over the same parallel loops where operands lie in memory along one loop and results along
/// another; nothing where none do, or where the blocks would be mostly empty or too much code.
std::optional<TranspositionTilingAttr> tileTransposition(llvm::ArrayRef<ComputeOp> computes,
                                                         const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H
