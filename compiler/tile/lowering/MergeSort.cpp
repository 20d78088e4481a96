#include "compiler/tile/lowering/MergeSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

static constexpr int64_t mostParts = 32, leastPart = 4096;

/// Two runs of positions that are merged.
struct Runs {
  Value left, middle, end;
};

using LoadPosition = llvm::function_ref<Value(Value)>;

/// Merges elements [from, to) of the result of two runs, whose next elements are `left` and `right`; ties take the left
/// one first. Loads of exhausted runs are moved to `last`.
static void emitMerge(OpaqueBuilder &body, Value from, Value to, Value left, Value right, const Runs &runs, Value last,
                      LoadPosition load, llvm::function_ref<void(Value, Value)> store,
                      llvm::function_ref<Value(Value, Value)> precedes) {
  ImplicitLocOpBuilder &b = body.ir();
  Value one = body.constant(1);
  body.loop(from, to, {left, right}, [&](Value i, ValueRange carried) -> SmallVector<Value> {
    Value left = carried[0], right = carried[1];
    Value leftPosition = load(body.min(left, last)), rightPosition = load(body.min(right, last));
    Value rightPrecedes = precedes(body.toIndex(rightPosition), body.toIndex(leftPosition));
    Value leftIsLeft = body.less(left, runs.middle), rightIsLeft = body.less(right, runs.end);
    Value leftIsGone = arith::XOrIOp::create(b, leftIsLeft, arith::ConstantIntOp::create(b, 1, 1));
    Value takesRight = arith::AndIOp::create(b, rightIsLeft, arith::OrIOp::create(b, leftIsGone, rightPrecedes));
    store(i, arith::SelectOp::create(b, takesRight, rightPosition, leftPosition));
    return {arith::SelectOp::create(b, takesRight, left, body.add(left, one)),
            arith::SelectOp::create(b, takesRight, body.add(right, one), right)};
  });
}

void emitMergeSort(OpaqueBuilder &body, Value begin, Value end, unsigned list, unsigned other,
                   llvm::function_ref<Value(Value, Value)> precedes) {
  ImplicitLocOpBuilder &b = body.ir();
  Value one = body.constant(1), two = body.constant(2), last = body.sub(end, one), length = body.sub(end, begin);
  body.loop(begin, end, [&](Value i) { body.store(list, i, body.toI64(i)); });
  auto load = [&](Value i) { return body.loadResult(list, i); };
  scf::WhileOp::create(
      b, TypeRange(b.getIndexType()), ValueRange(one),
      [&](OpBuilder &, Location, ValueRange width) { scf::ConditionOp::create(b, body.less(width[0], length), width); },
      [&](OpBuilder &, Location, ValueRange width) {
        Value pair = body.mul(width[0], two);
        body.loop(begin, end, pair, [&](Value left) {
          Value middle = body.min(body.add(left, width[0]), end), pairEnd = body.min(body.add(left, pair), end);
          emitMerge(
              body, left, pairEnd, left, middle, {left, middle, pairEnd}, last, load,
              [&](Value i, Value position) { body.store(other, body.sub(i, begin), position); }, precedes);
        });
        body.loop(begin, end, [&](Value i) { body.store(list, i, body.loadResult(other, body.sub(i, begin))); });
        scf::YieldOp::create(b, pair);
      });
}

ListParts::ListParts(Expr length) : length(length), width(length), tiles(length) {
  auto constant = [&](int64_t value) { return Expr::constant(length.context(), value); };
  tiles = Expr::min(Expr::floorDiv(length, constant(leastPart)), constant(mostParts - 1)) + 1;
  // At least one element, since runs divide positions by it.
  width = Expr::floorDiv(length, tiles) + 1;
}

Value ListParts::getBegin(OpaqueBuilder &body) const { return body.mul(body.tile(), body.size(width)); }

Value ListParts::getEnd(OpaqueBuilder &body) const {
  return body.min(body.add(getBegin(body), body.size(width)), body.size(length));
}

Value emitBinarySearch(OpaqueBuilder &body, Value from, Value to, llvm::function_ref<Value(Value)> holds) {
  ImplicitLocOpBuilder &b = body.ir();
  Value one = body.constant(1), two = body.constant(2);
  auto search = scf::WhileOp::create(
      b, TypeRange{b.getIndexType(), b.getIndexType()}, ValueRange{from, to},
      [&](OpBuilder &, Location, ValueRange range) {
        scf::ConditionOp::create(b, body.less(range[0], range[1]), range);
      },
      [&](OpBuilder &, Location, ValueRange range) {
        Value middle = body.add(range[0], body.div(body.sub(range[1], range[0]), two)), is = holds(middle);
        scf::YieldOp::create(b, ValueRange{arith::SelectOp::create(b, is, body.add(middle, one), range[0]),
                                           arith::SelectOp::create(b, is, range[1], middle)});
      });
  return body.sub(search.getResult(0), from);
}

/// One round: merges pairs of runs of `width` positions of `sorted`.
static Value mergeRuns(OpBuilder &builder, Location location, const ListParts &parts, Value sorted, Expr width,
                       ValueRange operands, PositionOrder precedes) {
  SmallVector<Value> inputs(operands);
  inputs.push_back(sorted);
  unsigned input = operands.size();
  OpaqueBuilder body(builder, location, parts.tiles, inputs, cast<graph::TensorType>(sorted.getType()));
  auto load = [&](Value i) { return body.load(input, i); };
  auto comesBefore = [&](Value a, Value b) { return precedes(body, a, b); };

  Value length = body.size(parts.length), run = body.size(width), pair = body.mul(run, body.constant(2));
  Value from = parts.getBegin(body), to = parts.getEnd(body), one = body.constant(1);
  Value begin = body.mul(body.div(from, pair), pair), middle = body.min(body.add(begin, run), length);
  Runs runs{begin, middle, body.min(body.add(begin, pair), length)};
  // Of the first `taken` elements of the result, so many are from the left run.
  Value taken = body.sub(from, begin), leftLength = body.sub(middle, begin), rightLength = body.sub(runs.end, middle);
  Value fewest = body.max(body.sub(taken, rightLength), body.constant(0)), most = body.min(taken, leftLength);
  Value more = emitBinarySearch(body, fewest, most, [&](Value number) {
    Value left = body.toIndex(load(body.add(begin, number)));
    Value right = body.toIndex(load(body.add(middle, body.sub(body.sub(taken, number), one))));
    Value rightIsFirst = comesBefore(right, left);
    return arith::XOrIOp::create(body.ir(), rightIsFirst, arith::ConstantIntOp::create(body.ir(), 1, 1)).getResult();
  });
  Value fromLeft = body.add(fewest, more);
  emitMerge(
      body, from, to, body.add(begin, fromLeft), body.add(middle, body.sub(taken, fromLeft)), runs,
      body.sub(length, one), load, [&](Value i, Value position) { body.store(0, i, position); }, comesBefore);
  return body.finish().getResult(0);
}

Value sortPositions(OpBuilder &builder, Location location, Expr length, ValueRange operands, PositionOrder precedes) {
  ListParts parts(length);
  auto getList = [&](Expr length) { return graph::TensorType::get(ArrayRef<Expr>{length}, builder.getI64Type()); };
  OpaqueBuilder body(builder, location, parts.tiles, operands, {getList(length), getList(parts.width)});
  emitMergeSort(body, parts.getBegin(body), parts.getEnd(body), 0, 1,
                [&](Value a, Value b) { return precedes(body, a, b); });
  Value sorted = body.finish().getResult(0);
  int64_t most = parts.tiles.asConstant().value_or(mostParts);
  for (int64_t runs = 1; runs < most; runs *= 2)
    sorted = mergeRuns(builder, location, parts, sorted, parts.width * runs, operands, precedes);
  return sorted;
}

} // namespace freestone::tile
