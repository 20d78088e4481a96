#ifndef FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H
#define FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The tiling of computes over the same parallel loops, with operands that are contiguous along another loop than the
/// results. Nothing if there are no such operands, if blocks would be mostly empty, or their code too large.
std::optional<TranspositionTilingAttr> tileTransposition(llvm::ArrayRef<ComputeOp> computes,
                                                         const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILETRANSPOSITION_H
