#ifndef FREESTONE_COMPILER_TILE_MAKEGROUP_H
#define FREESTONE_COMPILER_TILE_MAKEGROUP_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Moves computes of one block, and reshapes between them, into a group, at the place of the last; the group yields
/// results with outside users. No path may lead from one member to another through other operations.
GroupOp makeGroup(llvm::SmallVector<mlir::Operation *> members);
inline GroupOp makeGroup(llvm::ArrayRef<ComputeOp> members) {
  return makeGroup(llvm::SmallVector<mlir::Operation *>(members.begin(), members.end()));
}

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_MAKEGROUP_H
