#ifndef FREESTONE_COMPILER_GRAD_ELEMENTWORK_H
#define FREESTONE_COMPILER_GRAD_ELEMENTWORK_H

#include "mlir/IR/Operation.h"

namespace freestone::grad {

/// Additions that take as long as one element of an elementwise operator, where vectors of its operands are in registers:
/// 1 for what is one instruction, more for quotients and functions. 1 for other operators.
int64_t getWorkOfElement(mlir::Operation *op);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_ELEMENTWORK_H
