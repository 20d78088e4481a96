#ifndef FREESTONE_COMPILER_TILE_ROWLENGTHS_H
#define FREESTONE_COMPILER_TILE_ROWLENGTHS_H

#include "compiler/tile/Cost.h"

namespace freestone::tile {

/// Whether passes over the same rows are better one program: what one pass leaves of a row in a cache, the next one
/// reads from there.
class RowLengths {
public:
  /// `runsDecide`: rows of which only a run tells the length may be longer than the cache.
  RowLengths(TypicalSizes sizes, int64_t cacheBytes, bool runsDecide)
      : sizes(std::move(sizes)), cacheBytes(cacheBytes), runsDecide(runsDecide) {}

  enum class Fit { never, typically, inShortRuns };
  /// How the rows of computes over the same leading loops fit into half of the cache: at typical sizes, or where a run
  /// makes them short. Rows that don't fit then cost no more than in programs of their own: there are enough for all
  /// workers, and no pass keeps elements for a later one.
  Fit fit(llvm::ArrayRef<ComputeOp> computes, unsigned rowLoops) const;
  /// How the rows of elements fit that a reduction goes along.
  Fit fitReduced(ComputeOp reduction) const;

private:
  Fit fit(llvm::ArrayRef<graph::TensorType> parts, sym::Expr rows) const;

  TypicalSizes sizes;
  int64_t cacheBytes;
  bool runsDecide;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWLENGTHS_H
