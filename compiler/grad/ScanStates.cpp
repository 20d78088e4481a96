#include "compiler/grad/ScanStates.h"

#include "compiler/grad/BoundSymbols.h"
#include "compiler/grad/Differentiate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace freestone;

SmallVector<Value> grad::getCostly(Block &body) {
  SmallVector<Value> costly;
  if (body.getParentOp()->getParentOfType<func::FuncOp>()->hasAttr(recomputesAttr))
    return costly;
  llvm::SetVector<StringAttr> bound = findBoundSymbols(body.getParentOp());
  for (Operation &op : body)
    if (isa<graph::ContractOp, graph::ConvolveOp>(op) && !hasSizeOf(op.getResult(0), bound))
      costly.push_back(op.getResult(0));
  return costly;
}

bool grad::keepsStates(graph::ScanOp op) { return op->hasAttr(keepsStatesAttr); }

graph::ScanOp grad::keepStates(graph::ScanOp op) {
  Operation *yield = op.getBody().front().getTerminator();
  SmallVector<Type> results(op->getResultTypes());
  SmallVector<Value> values(yield->getOperands());
  sym::Expr steps = graph::getShape(op.getScanned().front())[0];
  SmallVector<Value> kept(op.getCarriedArgs());
  llvm::append_range(kept, getCostly(op.getBody().front()));
  for (Value value : kept) {
    auto type = cast<graph::TensorType>(value.getType());
    SmallVector<sym::Expr> shape = {steps};
    llvm::append_range(shape, type.getShape());
    results.push_back(type.withShape(shape));
    values.push_back(value);
  }
  yield->setOperands(values);
  OpBuilder builder(op);
  auto keeping = graph::ScanOp::create(builder, op.getLoc(), results, op.getCarried(), op.getScanned());
  keeping->setAttr(keepsStatesAttr, builder.getUnitAttr());
  keeping.getBody().takeBody(op.getBody());
  return keeping;
}

void grad::forgetKept(Operation *function) {
  function->walk([](Operation *op) { op->removeAttr(keepsStatesAttr); });
}
