#ifndef FREESTONE_COMPILER_TILE_TILECONTRACTION_H
#define FREESTONE_COMPILER_TILE_TILECONTRACTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The largest blocks of a contraction that are chosen without a look at its sizes, by the capacities of a device.
struct ContractionBlocks {
  /// Rows of A in a tile (its depth of them in L2), panels of B in a tile, steps of k at a time (a panel of them in
  /// L1).
  int64_t rows, panels, depth;

  static ContractionBlocks get(const DeviceDescription &device, unsigned elementBytes);
};

/// The largest micro-kernel over a type that the device has registers for.
MicroKernelAttr getMicroKernel(const DeviceDescription &device, mlir::Type elementType);

/// Whether a program is worth a micro-kernel of this width: rows share packed columns, or its weights are packed
/// already.
bool isMicroKernelContraction(ContractionForm &form, int64_t width);

/// Operands stay packed for other tiles if `keepPacked`.
ContractionTilingAttr tileContraction(ContractionForm &form, const DeviceDescription &device, bool keepPacked);

/// Whether the device sums products of both operands in pairs.
bool isDotProductContraction(ContractionForm &form, const DeviceDescription &device);
DotProductTilingAttr tileDotProducts(const DeviceDescription &device, mlir::MLIRContext *context);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONTRACTION_H
