#ifndef FREESTONE_COMPILER_TILE_TILELOOPS_H
#define FREESTONE_COMPILER_TILE_TILELOOPS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Elements of a tile: a sixty-fourth of the second-level cache in f32, so that workers share evenly, and still far
/// more work than it costs to begin a tile.
int64_t getTileElements(const DeviceDescription &device);

/// Whether the innermost loop that reduces walks along memory in some operand.
bool reducesAlongMemory(ComputeOp compute);

/// The tiling of a program that is no contraction: rows where reductions run along rows in memory, map where computes
/// share their parallel loops, written out for a `tile.opaque`. Fails, with a reason in `why`, where it is none of
/// these.
///
/// A tile of rows or a map is a run of consecutive elements that fits a share of the first-level caches, so that one
/// program's tiles are the same elements as the next one's. Reductions along rows keep several `accumulators` if
/// wanted.
mlir::FailureOr<mlir::Attribute> tileLoops(ProgramOp program, const DeviceDescription &device, bool accumulators,
                                           std::string &why);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILELOOPS_H
