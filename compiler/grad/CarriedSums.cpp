// Sums that a scan carries and that are computed once more of all its steps: gradients of two biases of one layer.
#include "compiler/grad/CarriedSums.h"

#include "compiler/dialect/graph/ShapeRules.h"
#include "compiler/expressions/Reversed.h"

using namespace mlir;
using namespace freestone;
using graph::ReduceOp;
using graph::ScanOp;

/// Whether a step adds to a state, which is 0 at first, the sum of `value` along `axes`, and does nothing else with it.
static bool carriesSum(ScanOp scan, unsigned state, Value value, ArrayRef<int64_t> axes) {
  auto initial = scan.getCarried()[state].getDefiningOp<graph::ConstantOp>();
  Block &body = scan.getBody().front();
  BlockArgument argument = body.getArgument(state);
  auto add = body.getTerminator()->getOperand(state).getDefiningOp<graph::BinaryOp>();
  if (!initial || !graph::isSplatOf(initial.getValue(), 0) || !argument.hasOneUse() || !add ||
      add.getKind() != graph::BinaryKind::add || !llvm::is_contained(add->getOperands(), argument))
    return false;
  Value term = add.getLhs() == argument ? add.getRhs() : add.getLhs();
  if (axes.empty())
    return term == value;
  auto sum = term.getDefiningOp<ReduceOp>();
  return sum && sum.getKind() == graph::ReduceKind::add && sum.getOperand() == value && sum.getAxes() == axes;
}

/// The state of a scan that is the sum of what it collects, in either order of its steps; null if there is none.
static Value findCarried(ReduceOp op) {
  if (op.getKind() != graph::ReduceKind::add || op.getAxes().empty() || op.getAxes().front() != 0)
    return {};
  Value reversed = expressions::getReversed(op.getOperand());
  auto collected = dyn_cast<OpResult>(reversed ? reversed : op.getOperand());
  auto scan = collected ? dyn_cast<ScanOp>(collected.getOwner()) : ScanOp();
  if (!scan || collected.getResultNumber() < scan.getCarried().size())
    return {};
  auto axes = llvm::map_to_vector(op.getAxes().drop_front(), [](int64_t axis) { return axis - 1; });
  Value value = scan.getBody().front().getTerminator()->getOperand(collected.getResultNumber());
  for (unsigned state = 0; state < scan.getCarried().size(); ++state)
    if (scan->getResult(state).getType() == op.getType() && carriesSum(scan, state, value, axes))
      return scan->getResult(state);
  return {};
}

int64_t grad::useCarriedSums(Block &block) {
  int64_t count = 0;
  for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>()))
    if (Value carried = findCarried(op)) {
      op.replaceAllUsesWith(carried);
      op.erase();
      ++count;
    }
  return count;
}
