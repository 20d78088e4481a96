#ifndef FREESTONE_COMPILER_TILE_DATAINDEX_H
#define FREESTONE_COMPILER_TILE_DATAINDEX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// An index that data give along an axis.
struct DataIndex {
  /// Of type index, counted from the beginning of the axis; any number where it is not inside.
  mlir::Value position;
  /// An i1: the axis has this position. An empty axis has none.
  mlir::Value inside;
};

/// Counts a negative index from the end of its axis, and checks that it is on it. Data may hold any index: what is not
/// inside must neither be read (`tile.read` sees to that) nor written. `size` is of type index.
DataIndex emitDataIndex(mlir::ImplicitLocOpBuilder &builder, mlir::Value index, mlir::Value size);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_DATAINDEX_H
