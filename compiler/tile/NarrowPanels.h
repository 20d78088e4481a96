#ifndef FREESTONE_COMPILER_TILE_NARROWPANELS_H
#define FREESTONE_COMPILER_TILE_NARROWPANELS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether last panels of fewer vectors than others save a hundredth of a module's products in its longest typical run,
/// or a tenth in another. For less, micro-kernels of a further width take too long to compile.
bool payNarrowPanels(mlir::ModuleOp module, const DeviceDescription &device);

/// Computes last panels in all vectors. Nothing else of the plans changes, so that results keep their bits.
void widenPanels(mlir::ModuleOp module);

/// The programs whose last panels have fewer vectors.
int64_t countNarrowPanels(mlir::ModuleOp module);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_NARROWPANELS_H
