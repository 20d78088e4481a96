#ifndef FREESTONE_COMPILER_TILE_TILECHAIN_H
#define FREESTONE_COMPILER_TILE_TILECHAIN_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ChainForm.h"

namespace freestone::tile {

/// Tiles of all pictures together that suffice for all workers.
inline constexpr int64_t leastTilesOfChain = 32;

/// What a chain takes beside the computation of its results, each once, in seconds of one worker: the transfers of its
/// intermediates; and, in tiles, rows that are kept or computed again, operands that each tile reads, and calls.
struct ChainCost {
  llvm::SmallVector<EdgeAttr> edges;
  double seconds = 0;
};

/// The edges with the least cost at typical sizes: of each, the level of memory, and whether its rows are kept.
/// `valueOf` evaluates sizes.
ChainCost chooseEdges(const ChainForm &form, const DeviceDescription &device,
                      llvm::function_ref<double(sym::Expr)> valueOf);

/// The seconds in which one worker writes and reads an intermediate of so many bytes, where the next operator begins
/// behind the end of this one.
double getSecondsApart(double bytes, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECHAIN_H
