#ifndef FREESTONE_COMPILER_TILE_EXPLAINTILES_H
#define FREESTONE_COMPILER_TILE_EXPLAINTILES_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::tile {

/// A tiling that was timed on this machine: seconds of each typical run, by one worker and by all; 0: not timed.
struct TimedTiling {
  TreeTilingAttr tiling;
  llvm::SmallVector<double> alone, together;
};
/// By program.
using TimedTilings = llvm::StringMap<llvm::SmallVector<TimedTiling>>;

/// Prints, for every program of a tiled module, its plan; for those whose tilings are constructed, the best candidates
/// at the sizes of typical runs with the time that the model predicts, in cycles and by cause, and the times that were
/// measured; and the bytes that each level of memory fetches in these runs.
void explainTiles(mlir::ModuleOp module, const DeviceDescription &device, const TimedTilings &times,
                  llvm::raw_ostream &stream);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_EXPLAINTILES_H
