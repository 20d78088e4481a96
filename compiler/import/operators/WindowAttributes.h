#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_WINDOWATTRIBUTES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_WINDOWATTRIBUTES_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// `kernel_shape`, `strides`, `dilations`, `pads` and `auto_pad`, as convolutions and poolings share them.
struct WindowAttributes {
  Window window;
  /// Of `window.high`, what only `ceil_mode` adds: places that an average does not count.
  llvm::SmallVector<Expr> ceilExtra;
};

/// Reads the attributes for the spatial dimensions of `x` ([N, C, spatial…]); `kernel` is used where the node names
/// none.
std::optional<WindowAttributes> windowAttributes(Node &node, Tensor x, llvm::ArrayRef<int64_t> kernel);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_WINDOWATTRIBUTES_H
