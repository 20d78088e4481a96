#ifndef FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H
#define FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace freestone::grad {

/// The gradient of a weight that is rounded where a product takes it would be rounded too, and then cast back. Sums and
/// products are accumulated in f32 anyway: what computes such gradients gives them in the wider type instead, where
/// nobody else sees the narrow one. The types of the gradients stay; those that are null are passed over.
void widenGradients(llvm::MutableArrayRef<mlir::Value> gradients);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_WIDENGRADIENT_H
