#ifndef FREESTONE_COMPILER_TILE_DATAINDEX_H
#define FREESTONE_COMPILER_TILE_DATAINDEX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// A data-dependent index along an axis.
struct DataIndex {
  /// Of type index, counted from the beginning of the axis; unspecified where `inside` is false.
  mlir::Value position;
  /// An i1: the position is in bounds. No position is in an empty axis.
  mlir::Value inside;
};

/// Counts a negative index from the end of its axis, and checks its bounds. Data may hold any index: out-of-bounds
/// positions must not be read (`tile.read` ensures this) or written. `size` is of type index.
DataIndex emitDataIndex(mlir::ImplicitLocOpBuilder &builder, mlir::Value index, mlir::Value size);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_DATAINDEX_H
