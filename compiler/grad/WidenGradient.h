#ifndef FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H
#define FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace freestone::grad {

/// Widens gradients of weights that products read in a narrow type: such a gradient would be rounded and cast back.
/// Sums and products are accumulated in f32 anyway, so the operators that compute it return the wider type instead, if
/// the narrow value has no other user. Types of the gradients are unchanged; null gradients are skipped.
void widenGradients(llvm::MutableArrayRef<mlir::Value> gradients);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H
