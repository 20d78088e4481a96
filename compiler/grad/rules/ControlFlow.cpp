// Operators with regions.
#include "compiler/grad/Rule.h"

using namespace mlir;

namespace freestone::grad {

namespace {

template <typename Op> LogicalResult refuseLoop(Op, Backward &backward) {
  return backward.refuse("has no gradient yet: a loop would have to keep the values of each iteration; unroll it in the "
                         "model, or freeze what comes before it");
}

} // namespace

void addControlFlowRules(RuleTable &table) {
  table.add<graph::WhileOp, refuseLoop<graph::WhileOp>>();
  table.add<graph::ScanOp, refuseLoop<graph::ScanOp>>();
}

} // namespace freestone::grad
