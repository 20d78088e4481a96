#ifndef FREESTONE_COMPILER_TILE_CONNECT_H
#define FREESTONE_COMPILER_TILE_CONNECT_H

#include "compiler/dialect/tile/TileDialect.h"
#include <deque>

namespace freestone::tile {

/// The members of a program-to-be, in order.
using Members = llvm::SmallVector<ComputeOp>;

/// What decides about two products without reductions in between.
struct ConnectLimits {
  /// The size of a worker's cache (L2).
  int64_t cacheBytes;
  /// Whether long products of f32 are split into parts for a matrix unit (see SplitProducts), which connected ones
  /// aren't.
  bool splits;
};

/// Connects groups by tiles (Shi et al., "Welder", OSDI 2023): contractions over the same rows and columns, what is
/// computed of their results, and contractions that sum these over columns or rows become one group (see
/// ConnectedForm), so that results of the former live in a cache, tile by tile. A factor of the rows of a single sum
/// moves behind it. Reductions of columns in between must allow for blocks of them (see RunningReductions). Results
/// that are also read behind the sums are computed there once more, if the readers can be connected as well (see
/// Recomputation): the backward pass of an attention. Returns the number of connections; joined groups are left empty,
/// further ones are added behind.
int64_t connectGroups(std::deque<Members> &groups, const ConnectLimits &limits);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CONNECT_H
