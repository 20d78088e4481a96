#ifndef FREESTONE_COMPILER_TILE_RESULTORDER_H
#define FREESTONE_COMPILER_TILE_RESULTORDER_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Whether only computes read a tensor, at places of the loops, if need be without a reshape, or behind a barrier: they
/// can read it in any order.
bool isReadByLoops(mlir::Value tensor);

/// Permutes the parallel loops of a compute with one result, as permuteLoops does: its readers, which are computes (see
/// isReadByLoops), read its new result in this order.
mlir::FailureOr<ComputeOp> reorderResult(ComputeOp compute, llvm::ArrayRef<unsigned> order);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_RESULTORDER_H
