#include "compiler/grad/WidenGradient.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using freestone::graph::BinaryKind;
using freestone::graph::ReduceKind;

namespace freestone::grad {

namespace {

bool isSum(Operation *op) {
  if (auto binary = dyn_cast<graph::BinaryOp>(op))
    return binary.getKind() == BinaryKind::add;
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::add;
}

class Widener {
public:
  explicit Widener(ArrayRef<Value> gradients) : results(gradients.begin(), gradients.end()) {}

  /// A gradient without the cast at its end; in a sum, without the casts of its terms.
  Value dropCast(Value gradient) {
    Operation *op = gradient.getDefiningOp();
    if (auto cast = dyn_cast_if_present<graph::CastOp>(op)) {
      auto from = dyn_cast<FloatType>(graph::getElementType(cast.getOperand()));
      auto to = llvm::cast<FloatType>(graph::getElementType(gradient));
      if (!from || from.getWidth() >= to.getWidth())
        return gradient;
      Value wide = widenAtSource(cast.getOperand(), to);
      gradient.replaceAllUsesWith(wide);
      cast.erase();
      return wide;
    }
    if (op && (isSum(op) || isa<graph::TransposeOp, graph::ReshapeOp>(op)))
      for (OpOperand &operand : op->getOpOperands())
        if (isOnlyHere(operand.get()))
          operand.set(dropCast(operand.get()));
    return gradient;
  }

private:
  bool isOnlyHere(Value value) { return value.hasOneUse() && !results.contains(value); }

  /// A value in a wider type, by widening the operator that computes it.
  Value widenAtSource(Value value, Type wide) {
    Operation *op = value.getDefiningOp();
    if (auto cast = dyn_cast_if_present<graph::CastOp>(op); cast && graph::getElementType(cast.getOperand()) == wide)
      return cast.getOperand();
    bool isProduct = isa_and_present<graph::ContractOp, graph::ConvolveOp>(op);
    bool canWiden = isProduct || (op && (isSum(op) || isa<graph::TransposeOp, graph::ReshapeOp>(op)));
    if (!isOnlyHere(value) || !canWiden) {
      // Other users may come before or after the widened operator.
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      return graph::CastOp::create(builder, value.getLoc(), value, wide);
    }
    if (isProduct)
      op->setAttr("element_type", TypeAttr::get(wide));
    else
      for (OpOperand &operand : op->getOpOperands())
        operand.set(widenAtSource(operand.get(), wide));
    value.setType(cast<graph::TensorType>(value.getType()).withElementType(wide));
    return value;
  }

  llvm::DenseSet<Value> results;
};

} // namespace

void widenGradients(MutableArrayRef<Value> gradients) {
  Widener widener(gradients);
  for (Value &gradient : gradients)
    if (gradient && gradient.use_empty() && llvm::count(gradients, gradient) == 1)
      gradient = widener.dropCast(gradient);
}

} // namespace freestone::grad
