#include "compiler/grad/ScanStates.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace freestone;

static constexpr StringLiteral keptAttr = "grad.keeps_states";

bool grad::keepsStates(graph::ScanOp op) { return op->hasAttr(keptAttr); }

graph::ScanOp grad::keepStates(graph::ScanOp op) {
  Operation *yield = op.getBody().front().getTerminator();
  SmallVector<Type> results(op->getResultTypes());
  SmallVector<Value> values(yield->getOperands());
  sym::Expr steps = graph::getShape(op.getScanned().front())[0];
  for (BlockArgument state : op.getCarriedArgs()) {
    auto type = cast<graph::TensorType>(state.getType());
    SmallVector<sym::Expr> shape = {steps};
    llvm::append_range(shape, type.getShape());
    results.push_back(type.withShape(shape));
    values.push_back(state);
  }
  yield->setOperands(values);
  OpBuilder builder(op);
  auto keeping = graph::ScanOp::create(builder, op.getLoc(), results, op.getCarried(), op.getScanned());
  keeping->setAttr(keptAttr, builder.getUnitAttr());
  keeping.getBody().takeBody(op.getBody());
  return keeping;
}
