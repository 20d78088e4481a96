#include "compiler/tile/Recompute.h"

#include "compiler/plan/MaskedBlocks.h"
#include "compiler/tile/ComputeBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

ComputeOp tile::makeIdentity(OpBuilder &builder, Value tensor) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tensor);
  auto type = cast<graph::TensorType>(tensor.getType());
  ComputeBuilder identity(builder, tensor.getLoc(), type.getShape());
  unsigned input = identity.read(tensor);
  return *identity.create(type.getElementType(), [&](ComputeBody &body) { return body.input(input); });
}

Recomputation::Recomputation(ArrayRef<ComputeOp> members, const ConnectedForm &form, const Axes &axes)
    : members(members), form(form), axes(axes), builder(members.front()->getContext()) {
  areRowsSeen = llvm::any_of(form.inside, [](ComputeOp compute) { return !getMask(compute).regions.empty(); });
}

/// A value of each row as other programs read it: sums over blocks end with the last one.
Value Recomputation::getExported(Value value) {
  if (!value.getDefiningOp<ComputeOp>().getNumReductions())
    return value;
  exported.push_back(makeIdentity(builder, value));
  return exported.back().getResult(0);
}

Value Recomputation::getCopy(Value value) {
  if (Value copy = known.lookup(value))
    return copy;
  auto compute = value.getDefiningOp<ComputeOp>();
  if (!llvm::is_contained(members, compute))
    return value;
  if (!llvm::is_contained(axes.ofResult(compute), form.column))
    return known[value] = getExported(value);
  IRMapping mapping;
  for (Value operand : compute->getOperands())
    mapping.map(operand, getCopy(operand));
  auto copy = cast<ComputeOp>(builder.clone(*compute, mapping));
  copies.push_back(copy);
  if (areRowsSeen)
    maskByInfinity(copy);
  for (auto [result, copied] : llvm::zip_equal(compute.getResults(), copy.getResults()))
    known[result] = copied;
  return known[value];
}

void Recomputation::maskByInfinity(ComputeOp copy) {
  copy.getBody()->walk([&](arith::SelectOp select) {
    for (unsigned choice : {1, 2}) {
      APFloat constant(0.0f);
      if (!matchPattern(select->getOperand(choice), m_ConstantFloat(&constant)) || constant.isNaN() ||
          constant.convertToDouble() > mostMasked)
        continue;
      OpBuilder inner(select);
      auto type = cast<FloatType>(select.getType());
      APFloat infinity = APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true);
      select->setOperand(choice, arith::ConstantOp::create(inner, select.getLoc(), inner.getFloatAttr(type, infinity)));
    }
  });
}

void Recomputation::replace(ArrayRef<OpOperand *> uses) {
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  builder.setInsertionPoint(first);
  for (OpOperand *use : uses) {
    replaced.emplace_back(use, use->get());
    use->set(getCopy(use->get()));
  }
}

void Recomputation::undo() {
  for (auto [use, value] : replaced)
    use->set(value);
  for (ComputeOp copy : llvm::reverse(copies))
    copy->erase();
  for (ComputeOp each : exported)
    each->erase();
}
