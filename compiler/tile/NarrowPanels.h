#ifndef FREESTONE_COMPILER_TILE_NARROWPANELS_H
#define FREESTONE_COMPILER_TILE_NARROWPANELS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether last panels of fewer vectors than others save a hundredth of a module's multiply-adds, in its longest
/// typical run. For less, micro-kernels of a further width take too long to compile.
bool payNarrowPanels(mlir::ModuleOp module, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_NARROWPANELS_H
