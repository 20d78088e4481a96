#ifndef FREESTONE_COMPILER_TILE_VECTORIZELOOP_H
#define FREESTONE_COMPILER_TILE_VECTORIZELOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// Vectorizes a loop of step 1: puts a loop over whole vectors before it, and leaves the remaining iterations to it.
/// Its body must consist of arithmetic on elements, and of loads and stores at the loop variable plus a loop invariant;
/// a later iteration must not load what an earlier one stored.
void vectorizeLoop(mlir::ImplicitLocOpBuilder &builder, mlir::scf::ForOp loop);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_VECTORIZELOOP_H
