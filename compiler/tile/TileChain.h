#ifndef FREESTONE_COMPILER_TILE_TILECHAIN_H
#define FREESTONE_COMPILER_TILE_TILECHAIN_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ChainForm.h"

namespace freestone::tile {

/// What a chain takes beside the computation of its results, each once, in seconds of one worker: the transfers of its
/// intermediates; in tiles, rows that are kept or computed again, operands that each tile reads, and calls; and workers
/// that have no tile of a single picture.
struct ChainCost {
  llvm::SmallVector<EdgeAttr> edges;
  int64_t rowUnit = 1, leastTiles = 1;
  double seconds = 0;
  /// Whether the level holds what a tile has between stages.
  bool fits = false;
};

/// The edges of a tiling with the least cost at typical sizes: of each, the level of memory, and whether its rows are
/// kept. `valueOf` evaluates sizes.
ChainCost chooseEdges(const ChainForm &form, const DeviceDescription &device,
                      llvm::function_ref<double(sym::Expr)> valueOf);

/// The seconds in which one worker writes and reads an intermediate of so many bytes, where the next operator begins
/// behind the end of this one.
double getSecondsApart(double bytes, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECHAIN_H
