#include "compiler/tile/lowering/Lines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

Lines::Lines(graph::TensorType type, int64_t axis)
    : outer(Expr::constant(type.getContext(), 1)), length(type.getDim(axis)), inner(outer) {
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(dim) < axis)
      outer = outer * extent;
    else if (static_cast<int64_t>(dim) > axis)
      inner = inner * extent;
  }
}

Value Lines::getBegin(OpaqueBuilder &body, Value line, Expr length) const {
  Value stride = body.size(inner);
  return body.add(body.mul(body.mul(body.div(line, stride), body.size(length)), stride), body.rem(line, stride));
}

/// Merges [begin, begin + width) and the run after it into `other`; ties take the left element first.
static void emitMerge(OpaqueBuilder &body, Value begin, Value width, Value length, unsigned list, unsigned other,
                      llvm::function_ref<Value(Value, Value)> precedes) {
  ImplicitLocOpBuilder &b = body.ir();
  Value middle = body.min(body.add(begin, width), length), end = body.min(body.add(middle, width), length);
  Value one = body.constant(1), last = body.sub(length, one);
  body.loop(begin, end, {begin, middle}, [&](Value i, ValueRange carried) -> SmallVector<Value> {
    Value left = carried[0], right = carried[1];
    Value leftPosition = body.loadResult(list, body.min(left, last));
    Value rightPosition = body.loadResult(list, body.min(right, last));
    Value rightPrecedes = precedes(body.toIndex(rightPosition), body.toIndex(leftPosition));
    Value leftIsLeft = body.less(left, middle), rightIsLeft = body.less(right, end);
    Value leftIsGone = arith::XOrIOp::create(b, leftIsLeft, arith::ConstantIntOp::create(b, 1, 1));
    Value takesRight = arith::AndIOp::create(b, rightIsLeft, arith::OrIOp::create(b, leftIsGone, rightPrecedes));
    body.store(other, i, arith::SelectOp::create(b, takesRight, rightPosition, leftPosition));
    return {arith::SelectOp::create(b, takesRight, left, body.add(left, one)),
            arith::SelectOp::create(b, takesRight, body.add(right, one), right)};
  });
}

void emitMergeSort(OpaqueBuilder &body, Value length, unsigned list, unsigned other,
                   llvm::function_ref<Value(Value, Value)> precedes) {
  ImplicitLocOpBuilder &b = body.ir();
  Value zero = body.constant(0), two = body.constant(2);
  body.loop(zero, length, [&](Value i) { body.store(list, i, body.toI64(i)); });
  scf::WhileOp::create(
      b, TypeRange(b.getIndexType()), ValueRange(body.constant(1)),
      [&](OpBuilder &, Location, ValueRange width) { scf::ConditionOp::create(b, body.less(width[0], length), width); },
      [&](OpBuilder &, Location, ValueRange width) {
        Value runs = body.mul(width[0], two);
        body.loop(zero, length, runs,
                  [&](Value begin) { emitMerge(body, begin, width[0], length, list, other, precedes); });
        body.loop(zero, length, [&](Value i) { body.store(list, i, body.loadResult(other, i)); });
        scf::YieldOp::create(b, runs);
      });
}

} // namespace freestone::tile
