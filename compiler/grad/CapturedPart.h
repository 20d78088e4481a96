#ifndef FREESTONE_COMPILER_GRAD_CAPTUREDPART_H
#define FREESTONE_COMPILER_GRAD_CAPTUREDPART_H

#include "compiler/expressions/Tensor.h"

namespace freestone::grad {

/// The gradient of a value that a loop's body takes from outside: the sum over all iterations of a part of each.
struct CapturedPart {
  mlir::Value value;
  /// The part is made by these from the contraction; empty and null where parts are summed step by step.
  llvm::SmallVector<mlir::Operation *> movement;
  graph::ContractOp contraction;

  /// Notes the contraction within `body` whose elements the part only moves. Its operands can then be collected, so
  /// that all iterations are contracted together; not where data determine sizes of theirs in each iteration.
  void findContraction(mlir::Value part, mlir::Block &body);

  /// The sum of the parts of all iterations from the collected operands of their contractions: these, over the
  /// iterations as well.
  expressions::Tensor contractAll(expressions::Tensor lhs, expressions::Tensor rhs) const;
};

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_CAPTUREDPART_H
