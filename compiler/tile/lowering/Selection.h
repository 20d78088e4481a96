#ifndef FREESTONE_COMPILER_TILE_LOWERING_SELECTION_H
#define FREESTONE_COMPILER_TILE_LOWERING_SELECTION_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// The positions at which the first `examined` elements of a tensor are not 0, in ascending order, as i64 [n]. If it
/// `binds`, n is bound to their number, else it must be bound to it already.
mlir::Value listSelected(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor, sym::Expr examined,
                         sym::Expr n, bool binds = true);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_SELECTION_H
