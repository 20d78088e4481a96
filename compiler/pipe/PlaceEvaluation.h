#ifndef FREESTONE_COMPILER_PIPE_PLACEEVALUATION_H
#define FREESTONE_COMPILER_PIPE_PLACEEVALUATION_H

#include "compiler/pipe/PlaceOperations.h"

namespace freestone::pipe {

/// Places the operations of an evaluation: each on the first stage that has its states, none before what it reads.
llvm::DenseMap<mlir::Operation *, int64_t> placeEvaluation(mlir::func::FuncOp evaluation, FreeOperations &free,
                                                           const StateStages &states);

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_PLACEEVALUATION_H
