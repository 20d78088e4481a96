#ifndef FREESTONE_COMPILER_TASK_OPERATIONS_H
#define FREESTONE_COMPILER_TASK_OPERATIONS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::task {

/// What the tiles of a program do with floating-point numbers, over the program's symbols.
struct Operations {
  /// Additions, multiplications, divisions, extrema and elementary functions, one each, at every point of every loop
  /// that the tiles run through (a multiply-add is 2). Conversions, comparisons and the written-out loops of a
  /// `tile.opaque` are left out.
  sym::Expr executed;
  /// What micro-kernels compute besides, behind the ends of rows and columns, and throw away; at most.
  sym::Expr padding;
};

/// Counted from the loops as they are tiled: the program must have a plan.
Operations countOperations(tile::ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_OPERATIONS_H
