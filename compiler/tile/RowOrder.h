#ifndef FREESTONE_COMPILER_TILE_ROWORDER_H
#define FREESTONE_COMPILER_TILE_ROWORDER_H

#include "compiler/tile/RowLengths.h"

namespace freestone::tile {

/// Permutes the loops of maps that read what reductions over rows of the same elements gave, such as a normalization by
/// the statistics of a batch: with the rows' loops first, both are passes of one program, and the elements are read
/// from memory once. Results then lie in the order of the rows, in which their readers read them. Maps that compute
/// elements again, behind barriers, go along those that are kept, as the first computation does. Returns the number of
/// maps.
int64_t orderMapsByRows(mlir::func::FuncOp function, const RowLengths &lengths);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ROWORDER_H
