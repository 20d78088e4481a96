#ifndef FREESTONE_COMPILER_TASK_OPERATIONS_H
#define FREESTONE_COMPILER_TASK_OPERATIONS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::task {

/// The counts of floating-point operations of a program's tiles, over the program's symbols.
struct Operations {
  /// Additions, multiplications, divisions, extrema and elementary functions, one each, at every point of every loop (a
  /// multiply-add is 2). Conversions, comparisons and the explicit loops of a `tile.opaque` are not counted.
  sym::Expr executed;
  /// An upper bound on the operations of micro-kernels on padding rows and columns, whose results are discarded.
  sym::Expr padding;
};

/// Counts over the tiled loops; the program must have a plan.
Operations countOperations(tile::ProgramOp program);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_OPERATIONS_H
