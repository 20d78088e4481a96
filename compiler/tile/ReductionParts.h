#ifndef FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H
#define FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// How one of the loops that reduce is cut: `parts` of `length` steps each, and a `rest` of fewer steps than there are
/// parts.
struct ReductionParts {
  unsigned loop;
  sym::Expr parts, length, rest;
};

/// The parts that give every worker of a large machine some of a reduction whose results are few tiles: as many as its
/// sizes and the device say, so that sums are the same for every number of workers. Nothing where the results are
/// tiles enough or only a run brings their number, where parts would be too short, or accumulators of parts can't be
/// combined.
std::optional<ReductionParts> chooseReductionParts(ComputeOp op, const TypicalSizes &sizes,
                                                   const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REDUCTIONPARTS_H
