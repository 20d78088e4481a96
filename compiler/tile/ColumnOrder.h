#ifndef FREESTONE_COMPILER_TILE_COLUMNORDER_H
#define FREESTONE_COMPILER_TILE_COLUMNORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace freestone::tile {

/// Permutes the loops of products, such as convolutions of single taps and their gradients, that read the pictures of a
/// batch channel by channel, as normalizations by a batch's statistics leave them: results lie channel by channel, too.
/// The columns of all pictures are then those of one product, and fill its panels of this width. Maps that follow go
/// along. Returns the number of products. Where a picture's columns fill panels, products that write channel by channel
/// go picture by picture.
int64_t orderProductsByColumns(mlir::func::FuncOp function, int64_t width);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_COLUMNORDER_H
