#include "compiler/grad/Sweep.h"
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Rule.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace freestone::grad {

/// A fault of a rule.
static constexpr StringLiteral misfit = "its gradient does not fit these sizes; please report this";

/// The values that an operator reads: its operands, and the captures of its regions.
static SmallVector<Value> getReads(Operation &op) {
  SmallVector<Value> reads(op.getOperands());
  if (op.getNumRegions() == 0)
    return reads;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  llvm::append_range(reads, captured);
  return reads;
}

/// Whether the result is piecewise constant, so that every path ends here.
static bool isStep(Operation &op) {
  auto unary = dyn_cast<graph::UnaryOp>(op);
  if (!unary)
    return false;
  switch (unary.getKind()) {
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
  case UnaryKind::trunc:
  case UnaryKind::sign:
    return true;
  default:
    return false;
  }
}

DenseSet<Value> findActive(Block &block, ArrayRef<Seed> seeds, ArrayRef<Value> wanted) {
  DenseSet<Value> reached(wanted.begin(), wanted.end());
  for (Operation &op : block)
    if (!isStep(op) && llvm::any_of(getReads(op), [&](Value read) { return reached.contains(read); }))
      for (Value result : op.getResults())
        if (isDifferentiable(result))
          reached.insert(result);

  DenseSet<Value> active;
  auto activate = [&](Value value) {
    if (reached.contains(value))
      active.insert(value);
  };
  for (const Seed &seed : seeds)
    activate(seed.value);
  for (Operation &op : llvm::reverse(block))
    // The operands of a step are active only through other paths.
    if (!isStep(op) && llvm::any_of(op.getResults(), [&](Value result) { return active.contains(result); }))
      for (Value read : getReads(op))
        activate(read);
  return active;
}

FailureOr<SmallVector<Value>> sweep(Block &block, ArrayRef<Seed> seeds, ArrayRef<Value> wanted) {
  Gradients gradients;
  gradients.active = findActive(block, seeds, wanted);
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(), [&](Value result) { return gradients.active.contains(result); }))
      forward.push_back(&op);

  Operation *end = block.getTerminator();
  GraphBuilder builder(end->getLoc(), end);
  for (const Seed &seed : seeds)
    Backward(end, builder, gradients).add(seed.value, Tensor(builder, seed.gradient));

  Operation *checked = end->getPrevNode();
  for (Operation *op : llvm::reverse(forward)) {
    bool isReached = llvm::any_of(op->getResults(), [&](Value result) { return gradients.found.contains(result); });
    bool isSource = llvm::none_of(getReads(*op), [&](Value read) { return gradients.active.contains(read); });
    if (!isReached || isSource)
      continue;
    RuleTable::Rule rule = RuleTable::get().find(op);
    if (!rule)
      return refuseGradient(op, "it has no gradient; freeze what comes before it, or leave it out of the model");
    builder.setLoc(op->getLoc());
    Backward backward(op, builder, gradients);
    if (failed(rule(op, backward)))
      return failure();
    if (builder.stopped())
      return refuseGradient(op, misfit);
    // A rule that does not fit the current sizes must not leave an invalid program.
    for (Operation *made = checked ? checked->getNextNode() : &block.front(); made != end; made = made->getNextNode())
      if (failed(made->getName().verifyInvariants(made)))
        return refuseGradient(op, misfit);
    checked = end->getPrevNode();
  }
  return llvm::map_to_vector(wanted, [&](Value value) { return gradients.found.lookup(value); });
}

} // namespace freestone::grad
