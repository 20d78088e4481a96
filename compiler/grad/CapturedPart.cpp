#include "compiler/grad/CapturedPart.h"

#include "compiler/expressions/Expressions.h"
#include "compiler/grad/BoundSymbols.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone::expressions;

namespace freestone::grad {

void CapturedPart::findContraction(Value part, Block &body) {
  SmallVector<Operation *> moved;
  Operation *made = part.getDefiningOp();
  for (; isa_and_nonnull<graph::TransposeOp, graph::ReshapeOp>(made); made = made->getOperand(0).getDefiningOp())
    moved.push_back(made);
  auto found = dyn_cast_or_null<graph::ContractOp>(made);
  if (!found || found->getBlock() != &body)
    return;
  llvm::SetVector<StringAttr> bound = findBoundSymbols(body.getParentOp());
  if (llvm::any_of(found->getOperands(), [&](Value operand) { return hasSizeOf(operand, bound); }))
    return;
  contraction = found;
  movement.assign(moved.rbegin(), moved.rend());
}

Tensor CapturedPart::contractAll(Tensor lhs, Tensor rhs) const {
  auto later = [](ArrayRef<int64_t> dims, bool withSteps) {
    SmallVector<int64_t> shifted;
    if (withSteps)
      shifted.push_back(0);
    for (int64_t dim : dims)
      shifted.push_back(dim + 1);
    return shifted;
  };
  graph::ContractOp step = contraction;
  GraphBuilder &builder = lhs.builder();
  Value all = graph::ContractOp::create(builder, lhs.value(), rhs.value(), later(step.getLhsBatch(), false),
                                        later(step.getRhsBatch(), false), later(step.getLhsContract(), true),
                                        later(step.getRhsContract(), true));
  for (Operation *moved : movement) {
    IRMapping mapping;
    mapping.map(moved->getOperand(0), all);
    all = builder.clone(*moved, mapping)->getResult(0);
  }
  return Tensor(builder, all);
}

} // namespace freestone::grad
