#ifndef FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H
#define FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H

#include "compiler/training/StepFunction.h"
#include "compiler/weights/WeightStore.h"

namespace freestone::training {

/// Adds a state whose elements begin as one number; unless it is 0, `weights` holds the initial value under the state's
/// name. Functions of one step share states by name.
grad::Tensor addFilledState(StepFunction &function, WeightStore &weights, llvm::StringRef name, graph::TensorType type,
                            double initial);

} // namespace freestone::training

#endif // FREESTONE_COMPILER_TRAINING_FILLEDSTATE_H
