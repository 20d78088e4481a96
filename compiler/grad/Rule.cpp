#include "compiler/grad/Rule.h"
#include "compiler/grad/Differentiate.h"

using namespace mlir;

namespace freestone::grad {

const RuleTable &RuleTable::get() {
  static const RuleTable table = [] {
    RuleTable rules;
    addCompositeRules(rules);
    addContractionRules(rules);
    addControlFlowRules(rules);
    addConvolutionRules(rules);
    addElementwiseRules(rules);
    addGrowingLoopRules(rules);
    addIndexingRules(rules);
    addOrderingRules(rules);
    addReductionRules(rules);
    addScanRules(rules);
    addShapeRules(rules);
    addWindowRules(rules);
    return rules;
  }();
  return table;
}

bool isDifferentiable(Value value) {
  auto type = dyn_cast<graph::TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

Tensor Backward::gradient(unsigned index) {
  Value found = gradients.found.lookup(op->getResult(index));
  return found ? Tensor(builder, found) : Tensor();
}

void Backward::add(Value value, Tensor gradient) {
  if (!gradient || !wants(value))
    return;
  Value &total = gradients.found[value];
  total = total ? (Tensor(builder, total) + gradient).value() : gradient.value();
}

LogicalResult Backward::refuse(const Twine &reason) { return refuseGradient(op, reason); }

LogicalResult refuseGradient(Operation *op, const Twine &reason) {
  InFlightDiagnostic error = op->emitError();
  if (auto node = op->getLoc()->findInstanceOf<NameLoc>())
    error << "node '" << node.getName().getValue() << "': ";
  return error << "'" << op->getName() << "' is between a trained value and the loss, and " << reason;
}

} // namespace freestone::grad
