#ifndef FREESTONE_COMPILER_DIALECT_GRAPH_REFUSAL_H
#define FREESTONE_COMPILER_DIALECT_GRAPH_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/ValueRange.h"

namespace freestone::graph {

/// How a shape rule refuses operands: with a diagnostic on an existing operation (verification), silently while one is
/// being built.
class Refusal {
public:
  Refusal() = default;
  explicit Refusal(mlir::Operation *op) : op(op) {}

  template <typename... Parts> llvm::LogicalResult operator()(Parts &&...parts) const {
    if (op)
      (op->emitOpError() << ... << std::forward<Parts>(parts));
    return mlir::failure();
  }

private:
  mlir::Operation *op = nullptr;
};

/// The type of an operator whose shape rule refused its operands: that of the first operand, else an f32 of rank 0.
mlir::Type getTypeOfRefused(mlir::MLIRContext *context, mlir::ValueRange operands);

} // namespace freestone::graph

#endif // FREESTONE_COMPILER_DIALECT_GRAPH_REFUSAL_H
