#ifndef FREESTONE_COMPILER_PIPE_RECOMPUTESTAGES_H
#define FREESTONE_COMPILER_PIPE_RECOMPUTESTAGES_H

#include "compiler/pipe/PlaceOperations.h"

namespace freestone::pipe {

/// Copies what the gradients of these stages read of their own stage's forward pass, and what the copies read of it, so
/// that nothing but what a stage receives has to be kept for its gradients, which read the copies. Returns the copies
/// that are not free, with their places.
llvm::DenseMap<mlir::Operation *, Place> copyForwardPasses(mlir::func::FuncOp function, FreeOperations &free,
                                                           const PlacedOperations &placed,
                                                           llvm::ArrayRef<int64_t> stages);

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_RECOMPUTESTAGES_H
