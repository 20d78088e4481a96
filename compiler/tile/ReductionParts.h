#ifndef FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H
#define FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// The split of a reduction loop: `parts` of `length` steps each, and a remainder (`rest`) of fewer steps, or groups of
/// words, than parts.
struct ReductionParts {
  unsigned loop;
  sym::Expr parts, length, rest;
};

/// The split of a reduction with few tiles of results, to occupy all workers of a large machine. Depends on its sizes
/// and the device, not on the number of workers: sums are the same for all. Nothing if the results are tiles enough or
/// their number is data-dependent, parts would be too short or, at typical sizes, too few, or accumulators of parts
/// can't be combined.
std::optional<ReductionParts> chooseReductionParts(ComputeOp op, const TypicalSizes &sizes,
                                                   const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H
