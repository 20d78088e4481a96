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

/// Evaluates sizes in a typical run.
using SizesOfRun = llvm::function_ref<double(sym::Expr)>;

/// The edges of a tiling that suit typical runs best, by the mean square of their regret: of each, the level of memory,
/// and whether its rows are kept. The cost is that of the last run; of idle workers, the mean for so many.
ChainCost chooseEdges(const ChainForm &form, const DeviceDescription &device, llvm::ArrayRef<SizesOfRun> runs,
                      llvm::ArrayRef<int64_t> workers);

/// The seconds in which one worker writes and reads an intermediate of so many bytes, where the next operator begins
/// behind the end of this one.
double getSecondsApart(double bytes, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECHAIN_H
