#include "compiler/plan/BodyDependences.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

static bool isFactor(Dependence dependence) {
  return dependence == Dependence::factor || dependence == Dependence::zero;
}

bool BodyDependences::isProportional(Value value) { return isFactor(get(value)); }

Dependence BodyDependences::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  Dependence dependence = op ? derive(op) : Dependence::none;
  known[value] = dependence;
  return dependence;
}

Dependence BodyDependences::derive(Operation *op) {
  SmallVector<Dependence> operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return get(value); });
  if (matchPattern(op->getResult(0), m_AnyZeroFloat()))
    return Dependence::zero;
  if (llvm::all_of(operands, [](Dependence each) { return each == Dependence::none || each == Dependence::zero; }))
    return Dependence::none;
  if (isa<arith::SubFOp>(op) && operands[0] == Dependence::none && operands[1] == Dependence::exponent)
    return Dependence::distance;
  if (isa<math::ExpOp>(op) && operands[0] == Dependence::distance)
    return Dependence::factor;
  if (isa<arith::MulFOp>(op) && (operands[0] == Dependence::none || operands[1] == Dependence::none) &&
      (isFactor(operands[0]) || isFactor(operands[1])))
    return Dependence::factor;
  if (isa<arith::DivFOp>(op) && isFactor(operands[0]) && operands[1] == Dependence::none)
    return Dependence::factor;
  if (isa<arith::ExtFOp>(op) && isFactor(operands[0]))
    return Dependence::factor;
  if (isa<arith::SelectOp>(op) && operands[0] == Dependence::none && isFactor(operands[1]) && isFactor(operands[2]))
    return Dependence::factor;
  return Dependence::other;
}
