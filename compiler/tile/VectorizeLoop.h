#ifndef FREESTONE_COMPILER_TILE_VECTORIZELOOP_H
#define FREESTONE_COMPILER_TILE_VECTORIZELOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace freestone::tile {

/// Puts a loop over whole vectors before a loop of step 1, to which the remaining iterations are left. Its body is
/// arithmetic on elements, and loads and stores at the loop's position plus what does not change in it; what is stored
/// must not be loaded by a later iteration.
void vectorizeLoop(mlir::ImplicitLocOpBuilder &builder, mlir::scf::ForOp loop);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_VECTORIZELOOP_H
