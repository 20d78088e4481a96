#ifndef FREESTONE_COMPILER_PIPE_PLACEUPDATE_H
#define FREESTONE_COMPILER_PIPE_PLACEUPDATE_H

#include "compiler/pipe/PlaceOperations.h"

namespace freestone::pipe {

/// An operation of the update: on the stage whose states it reads or replaces, before or after the exchange of small
/// values between all stages.
struct UpdatePlace {
  int64_t stage = 0;
  bool isBefore = false;
};

/// Whether every stage returns this result of an update: an output, or a state of the whole step.
bool isReturnedEverywhere(mlir::func::FuncOp update, mlir::OpOperand &result);

/// Places the operations of an update, and completes the homes of states: those of an optimizer are at home with their
/// weight. What is small and follows from small values, such as the norm of all gradients and the skip decision, is
/// free
/// (`FreeOperations` from computed values): every stage computes it from the exchanged values, in the same order.
/// Small sums that one stage keeps are copied, for the exchange. Fails with a message where an operation needs states
/// of several stages, or a second exchange.
mlir::FailureOr<llvm::DenseMap<mlir::Operation *, UpdatePlace>> placeUpdate(mlir::func::FuncOp update,
                                                                            FreeOperations &free, StateStages &states);

} // namespace freestone::pipe

#endif // FREESTONE_COMPILER_PIPE_PLACEUPDATE_H
