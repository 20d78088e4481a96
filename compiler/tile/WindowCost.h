#ifndef FREESTONE_COMPILER_TILE_WINDOWCOST_H
#define FREESTONE_COMPILER_TILE_WINDOWCOST_H

#include "compiler/plan/WindowTiles.h"
#include "compiler/tile/CostModel.h"

namespace freestone::tile {

/// A reduction of windows at given sizes.
struct WindowProblem {
  WindowSizes<int64_t> sizes;
  /// The picture's other loops, channels out, and taps.
  int64_t outer = 1, channels = 1, taps = 1;
  /// Of an element of the copy; lanes of a vector of them.
  int64_t bytes = 4, lanes = 8;
  /// Whether the last vector of a row begins within the one before; whether the picture is read in place.
  bool overlaps = false, inPlace = false;
};

/// The numbers of `#tile.window`.
struct WindowShares {
  int64_t channels, rows, vectors, lanes, pixels, copy, unroll, channelVectors = 0;

  static WindowShares get(WindowTilingAttr tiling);
  bool operator==(const WindowShares &) const = default;
};

/// The blocks of a tiling at the sizes of a problem.
WindowBlocks<int64_t> getBlocks(const WindowProblem &problem, const WindowShares &shares);

/// The time of tiled windows with so many workers, as `estimateContraction`: `compute` is the taps of whole blocks,
/// `packing` copies the picture, and `overhead` has what follows on the sums. Sizes are at least 1.
TilingCost estimateWindow(const WindowProblem &problem, const WindowShares &shares, const DeviceRates &rates,
                          int64_t workers);

/// The cycles of windows with vectors along channels (see `ChannelVectors`), by one worker.
double estimateChannelVectors(const WindowProblem &problem, const DeviceRates &rates);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_WINDOWCOST_H
