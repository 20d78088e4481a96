// Operators with regions.
#include "compiler/grad/BoundSymbols.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/Sweep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace freestone::grad {

namespace {

/// Turns a copy of a branch into its backward program, which yields the gradients of `wanted`.
LogicalResult turnBranch(Region &branch, ArrayRef<Value> gradients, ArrayRef<Value> wanted) {
  Block &block = branch.front();
  Operation *end = block.getTerminator();
  GraphBuilder builder(end->getLoc(), end);
  SmallVector<Seed> seeds;
  for (auto [value, gradient] : llvm::zip_equal(end->getOperands(), gradients)) {
    if (!gradient)
      continue;
    // A size that differs between the branches has another symbol outside of them.
    Value seen = gradient.getType() == value.getType()
                     ? gradient
                     : graph::MatchShapeOp::create(builder, value.getType(), gradient, StringAttr()).getResult();
    seeds.push_back({value, seen});
  }
  SmallVector<Value> inside(wanted);
  if (failed(expandPaths(block, seeds, inside)))
    return failure();
  FailureOr<SmallVector<Value>> found = sweep(block, seeds, inside);
  if (failed(found))
    return failure();
  builder.setInsertionPoint(end);
  for (auto [value, gradient] : llvm::zip_equal(wanted, *found))
    if (!gradient)
      gradient = builder.splat(0, cast<graph::TensorType>(value.getType())).value();
  end->setOperands(*found);
  return success();
}

/// A second `if` on the same condition returns the gradients of the branches' captures; each branch recomputes what it
/// needs.
LogicalResult differentiateIf(graph::IfOp op, Backward &backward) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> wanted =
      llvm::to_vector(llvm::make_filter_range(captured, [&](Value value) { return backward.wants(value); }));
  SmallVector<Value> gradients;
  for (unsigned index = 0; index < op->getNumResults(); ++index)
    gradients.push_back(backward.gradient(index).value());
  SmallVector<Type> types = llvm::map_to_vector(wanted, [](Value value) { return value.getType(); });
  auto names = renameSymbols(op->getParentOfType<func::FuncOp>(), findBoundSymbols(op));
  auto turned = graph::IfOp::create(backward.builder, types, op.getCondition());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), turned->getRegions())) {
    IRMapping mapping;
    from.cloneInto(&to, mapping);
  }
  applyNames(turned, names);
  for (Region &branch : turned->getRegions())
    if (failed(turnBranch(branch, gradients, wanted)))
      return failure();
  for (auto [value, gradient] : llvm::zip_equal(wanted, turned.getResults()))
    backward.add(value, backward.tensor(gradient));
  return success();
}

} // namespace

void addControlFlowRules(RuleTable &table) {
  table.add<graph::IfOp, differentiateIf>();
}

} // namespace freestone::grad
