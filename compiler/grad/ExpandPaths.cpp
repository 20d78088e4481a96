#include "compiler/dialect/graph/Unify.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/expressions/Composites.h"
#include "compiler/grad/BoundIterations.h"
#include "compiler/grad/GrowingStates.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/ScanStates.h"
#include "compiler/grad/Sweep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace freestone::grad {

/// The results of the callee, with its body put before the call.
static FailureOr<SmallVector<Value>> inlineCall(graph::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return refuseGradient(call, "calls a function without a body");
  if (callee.walk([](graph::SymbolBinderInterface) { return WalkResult::interrupt(); }).wasInterrupted())
    return refuseGradient(call, "calls a function with sizes that depend on data; inline it in the model");
  graph::Unifier unifier;
  std::string error;
  if (failed(graph::unifyArguments(callee.getFunctionType(), call.getOperandTypes(), unifier, &error)))
    return refuseGradient(call, error);

  Block &body = callee.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    sym::substituteSymbols(clone, [&](StringRef name) -> std::optional<sym::Expr> {
      return unifier.apply(sym::Expr::symbol(call.getContext(), name));
    });
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value result) { return mapping.lookupOrDefault(result); });
}

static FailureOr<SmallVector<Value>> keepGrowing(graph::WhileOp loop) {
  size_t given = loop->getNumResults();
  FailureOr<graph::WhileOp> keeping = keepGrowingStates(loop);
  if (failed(keeping))
    return failure();
  return SmallVector<Value>(keeping->getResults().take_front(given));
}

LogicalResult expandPaths(Block &block, MutableArrayRef<Seed> seeds, MutableArrayRef<Value> wanted) {
  auto expand = [&](Operation *op) -> FailureOr<SmallVector<Value>> {
    OpBuilder builder(op);
    if (auto call = dyn_cast<graph::CallOp>(op))
      return inlineCall(call);
    if (auto loop = dyn_cast<graph::WhileOp>(op))
      return isGrowing(loop) ? keepGrowing(loop) : boundIterations(loop);
    if (auto scan = dyn_cast<graph::ScanOp>(op))
      return SmallVector<Value>(keepStates(scan).getResults().take_front(op->getNumResults()));
    return expressions::decompose(op, builder);
  };
  while (true) {
    DenseSet<Value> active = findActive(block, seeds, wanted);
    Operation *next = nullptr;
    for (Operation &op : block) {
      bool isExpanded = isa<graph::CallOp, graph::CompositeOpInterface>(op) && !RuleTable::get().find(&op) &&
                        llvm::any_of(op.getOperands(), [&](Value operand) { return active.contains(operand); });
      auto scan = dyn_cast<graph::ScanOp>(op);
      auto loop = dyn_cast<graph::WhileOp>(op);
      if ((isExpanded || (loop && !keepsGrowingStates(loop)) || (scan && !keepsStates(scan))) &&
          llvm::any_of(op.getResults(), [&](Value result) { return active.contains(result); }))
        next = &op;
    }
    if (!next)
      return success();
    FailureOr<SmallVector<Value>> values = expand(next);
    if (failed(values))
      return isa<graph::CallOp, graph::WhileOp>(next)
                 ? failure()
                 : refuseGradient(next, "it has no gradient, and no decomposition");
    auto replace = [&](Value &value) {
      if (value && value.getDefiningOp() == next)
        value = (*values)[cast<OpResult>(value).getResultNumber()];
    };
    for (Seed &seed : seeds)
      replace(seed.value);
    llvm::for_each(wanted, replace);
    next->replaceAllUsesWith(*values);
    next->erase();
  }
}

} // namespace freestone::grad
