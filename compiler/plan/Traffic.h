#ifndef FREESTONE_COMPILER_PLAN_TRAFFIC_H
#define FREESTONE_COMPILER_PLAN_TRAFFIC_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Bytes of tensors that a run of a program has to move, over the program's symbols, whatever its tiling and the
/// caches: every element that it reads or writes counts once.
struct Traffic {
  sym::Expr read, written;

  /// Of data-dependent reads, at most one element a point; of explicit loops, all of their operands.
  static Traffic get(ProgramOp program);
  sym::Expr getTotal() const { return read + written; }
};

/// The bytes of an argument's elements that a program reads, each counted once.
sym::Expr getReadBytes(mlir::BlockArgument argument);
/// The bytes of a tensor in memory, its layout's padding included.
sym::Expr getStorageBytes(graph::TensorType type);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_TRAFFIC_H
