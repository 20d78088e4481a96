#ifndef FREESTONE_COMPILER_TILE_EXPLAINTILES_H
#define FREESTONE_COMPILER_TILE_EXPLAINTILES_H

#include "compiler/device/DeviceDescription.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::tile {

/// Prints, for every program of a tiled module, its plan; for those whose tilings are constructed, the best candidates
/// at the sizes of typical runs with the time that the model predicts, in cycles and by cause; and the bytes that each
/// level of memory fetches in these runs.
void explainTiles(mlir::ModuleOp module, const DeviceDescription &device, llvm::raw_ostream &stream);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_EXPLAINTILES_H
