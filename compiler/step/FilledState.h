#ifndef FREESTONE_COMPILER_STEP_FILLEDSTATE_H
#define FREESTONE_COMPILER_STEP_FILLEDSTATE_H

#include "compiler/step/StepFunction.h"
#include "compiler/weights/WeightStore.h"

namespace freestone::step {

/// Adds a state whose elements begin as one number; unless it is 0, `weights` holds the initial value under the state's
/// name. Functions of one step share states by name.
expressions::Tensor addFilledState(StepFunction &function, WeightStore &weights, llvm::StringRef name,
                                   graph::TensorType type, double initial);

} // namespace freestone::step

#endif // FREESTONE_COMPILER_STEP_FILLEDSTATE_H
