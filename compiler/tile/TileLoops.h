#ifndef FREESTONE_COMPILER_TILE_TILELOOPS_H
#define FREESTONE_COMPILER_TILE_TILELOOPS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The tiling of a program that is no contraction: rows where reductions run along rows in memory, map where computes
/// share their parallel loops, or a transposition (if allowed) where operands lie along another loop than results,
/// written out for a `tile.opaque`. Fails, with a reason in `why`, where it is none of these.
///
/// A tile of rows or a map is a run of consecutive elements that fits a share of the first-level caches, so that one
/// program's tiles are the same elements as the next one's.
mlir::FailureOr<mlir::Attribute> tileLoops(ProgramOp program, const DeviceDescription &device, bool transpositions,
                                           std::string &why);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILELOOPS_H
