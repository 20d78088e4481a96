#ifndef FREESTONE_COMPILER_TILE_TILECONTRACTION_H
#define FREESTONE_COMPILER_TILE_TILECONTRACTION_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The largest blocks of a contraction, by the capacities of a device alone.
struct ContractionBlocks {
  /// Rows of A in a tile (a block of k of them in L2), panels of B in a tile, steps of a block of k (a panel of them in
  /// L1).
  int64_t rows, panels, depth;

  static ContractionBlocks get(const DeviceDescription &device, unsigned elementBytes);
};

/// The largest micro-kernel for an element type that fits the device's registers.
MicroKernelAttr getMicroKernel(const DeviceDescription &device, mlir::Type elementType);

/// Whether a program is worth a micro-kernel of this width: rows share packed columns, or its weights are packed
/// already.
bool isMicroKernelContraction(ContractionForm &form, int64_t width);

/// With `keepPacked`, operands stay packed for later tiles; with `multiplyPairs`, integers use pair products.
ContractionTilingAttr tileContraction(ContractionForm &form, const DeviceDescription &device, bool keepPacked,
                                      bool multiplyPairs);

/// Whether the device computes the products of both operands as dot products.
bool isDotProductContraction(ContractionForm &form, const DeviceDescription &device);
DotProductTilingAttr tileDotProducts(ContractionForm &form, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILECONTRACTION_H
