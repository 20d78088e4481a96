#ifndef FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H
#define FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H

#include "compiler/training/StepFunction.h"
#include "compiler/weights/WeightStore.h"

namespace freestone::training {

/// A state of the function whose elements begin as one number, which is kept in `weights` under the state's name unless
/// it is 0. Functions of one step share states by name.
expressions::Tensor addFilledState(StepFunction &function, WeightStore &weights, llvm::StringRef name,
                                   graph::TensorType type, double initial);

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H
