#include "compiler/tile/lowering/Lines.h"
#include "compiler/tile/lowering/Lowering.h"
#include "compiler/tile/lowering/MergeSort.h"
#include "compiler/tile/lowering/Selection.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Finds the classes of equal slices along an axis, by all workers. In order, equal slices are neighbours: a class is a
/// range of the sorted positions. The sort is stable, so the first slice of the range is the first one in the operand.
class SliceClasses {
public:
  SliceClasses(PatternRewriter &rewriter, graph::UniqueOp op)
      : rewriter(rewriter), location(op.getLoc()), operand(op.getOperand()),
        lines(cast<graph::TensorType>(operand.getType()), op.getAxis()), parts(lines.length),
        number(graph::getShape(op.getValues())[op.getAxis()]), classParts(number) {
    order = sortPositions(rewriter, location, lines.length, operand,
                          [&](OpaqueBuilder &body, Value a, Value b) { return precedes(body, a, b); });
    isNew = markBeginnings();
    begins = listSelected(rewriter, location, isNew, lines.length, number);
    if (!op.getSorted())
      numberByOccurrence();
  }

  /// The number of classes is bound to the symbol of the result's axis.
  Value getFirst() { return first ? first : takeOrdered(begins); }
  Value getInverse();
  Value getCounts();

private:
  graph::TensorType getList(Expr length, Type element) {
    return graph::TensorType::get(ArrayRef<Expr>{length}, element);
  }
  Type i64() { return rewriter.getI64Type(); }

  Value precedes(OpaqueBuilder &body, Value a, Value b);
  Value markBeginnings();
  Value takeOrdered(Value places);
  void numberByOccurrence();
  /// The end of class `c` in the sorted positions; `begins` is input `input`.
  Value getClassEnd(OpaqueBuilder &body, unsigned input, Value c);

  PatternRewriter &rewriter;
  Location location;
  Value operand;
  Lines lines;
  ListParts parts;
  Expr number;
  ListParts classParts;
  /// The sorted positions, whether each begins a class, and the places of those that do.
  Value order, isNew, begins;
  /// For classes in the order of first occurrence: their first slices, and the number of each class in sorted order.
  Value first, numbers;
};

} // namespace

/// Whether slice a comes before slice b in lexicographic order; the operand is input 0.
Value SliceClasses::precedes(OpaqueBuilder &body, Value a, Value b) {
  ImplicitLocOpBuilder &ir = body.ir();
  Type element = graph::getElementType(operand);
  auto load = [&](Value slice, Value i) {
    return body.load(0, body.add(lines.getBegin(body, i, lines.length), body.mul(slice, body.size(lines.inner))));
  };
  Value zero = body.constant(0), less = body.constant(-1), greater = body.constant(1);
  Value decided =
      body.loop(zero, body.size(lines.getCount()), zero, [&](Value i, ValueRange known) -> SmallVector<Value> {
        Value x = load(a, i), y = load(b, i);
        Value isLess = emitPrecedes(ir, x, y, element, /*descending=*/false);
        Value isGreater = emitPrecedes(ir, y, x, element, /*descending=*/false);
        Value notLess = arith::SelectOp::create(ir, isGreater, greater, zero);
        Value here = arith::SelectOp::create(ir, isLess, less, notLess);
        return {arith::SelectOp::create(ir, body.isEqual(known[0], zero), here, known[0])};
      })[0];
  return body.less(decided, zero);
}

Value SliceClasses::markBeginnings() {
  OpaqueBuilder body(rewriter, location, parts.tiles, {operand, order}, getList(lines.length, rewriter.getI1Type()));
  Value zero = body.constant(0), one = body.constant(1);
  body.loop(parts.getBegin(body), parts.getEnd(body), [&](Value i) {
    Value before = body.toIndex(body.load(1, body.max(body.sub(i, one), zero)));
    Value differs = precedes(body, before, body.toIndex(body.load(1, i)));
    body.store(0, i, arith::OrIOp::create(body.ir(), body.isEqual(i, zero), differs));
  });
  return body.finish().getResult(0);
}

Value SliceClasses::getClassEnd(OpaqueBuilder &body, unsigned input, Value c) {
  Value last = body.sub(body.size(number), body.constant(1)), next = body.min(body.add(c, body.constant(1)), last);
  return arith::SelectOp::create(body.ir(), body.less(c, last), body.toIndex(body.load(input, next)),
                                 body.size(lines.length));
}

/// The sorted positions at these places.
Value SliceClasses::takeOrdered(Value places) {
  OpaqueBuilder body(rewriter, location, classParts.tiles, {order, places}, getList(number, i64()));
  body.loop(classParts.getBegin(body), classParts.getEnd(body),
            [&](Value c) { body.store(0, c, body.load(0, body.toIndex(body.load(1, c)))); });
  return body.finish().getResult(0);
}

/// Lists the first slices in ascending order, and searches for those of the classes.
void SliceClasses::numberByOccurrence() {
  // The operand of the number of classes' size puts this after what binds it.
  OpaqueBuilder marks(rewriter, location, parts.tiles, {order, isNew, begins},
                      getList(lines.length, rewriter.getI1Type()));
  marks.loop(parts.getBegin(marks), parts.getEnd(marks),
             [&](Value i) { marks.store(0, marks.toIndex(marks.load(0, i)), marks.load(1, i)); });
  Value isFirst = marks.finish().getResult(0);
  first = listSelected(rewriter, location, isFirst, lines.length, number, /*binds=*/false);

  Value representatives = takeOrdered(begins);
  OpaqueBuilder body(rewriter, location, classParts.tiles, {representatives, first}, getList(number, i64()));
  body.loop(classParts.getBegin(body), classParts.getEnd(body), [&](Value c) {
    Value slice = body.load(0, c);
    Value found = emitBinarySearch(body, body.constant(0), body.size(number), [&](Value i) {
      return arith::CmpIOp::create(body.ir(), arith::CmpIPredicate::slt, body.load(1, i), slice).getResult();
    });
    body.store(0, c, body.toI64(found));
  });
  numbers = body.finish().getResult(0);
}

/// The class of every slice. A tile searches for the class of its first sorted position, and counts beginnings from
/// there.
Value SliceClasses::getInverse() {
  SmallVector<Value> inputs = {order, isNew, begins};
  if (numbers)
    inputs.push_back(numbers);
  OpaqueBuilder body(rewriter, location, parts.tiles, inputs, getList(lines.length, i64()));
  Value begin = parts.getBegin(body), one = body.constant(1), zero = body.constant(0);
  Value begun = emitBinarySearch(body, zero, body.size(number),
                                 [&](Value c) { return body.less(body.toIndex(body.load(2, c)), begin); });
  body.loop(begin, parts.getEnd(body), begun, [&](Value i, ValueRange known) -> SmallVector<Value> {
    Value classes = arith::SelectOp::create(body.ir(), body.load(1, i), body.add(known[0], one), known[0]);
    Value last = body.sub(classes, one);
    Value result = numbers ? body.load(3, last) : body.toI64(last);
    body.store(0, body.toIndex(body.load(0, i)), result);
    return {classes};
  });
  return body.finish().getResult(0);
}

Value SliceClasses::getCounts() {
  SmallVector<Value> inputs = {begins};
  if (numbers)
    inputs.push_back(numbers);
  OpaqueBuilder body(rewriter, location, classParts.tiles, inputs, getList(number, i64()));
  body.loop(classParts.getBegin(body), classParts.getEnd(body), [&](Value c) {
    Value count = body.sub(getClassEnd(body, 0, c), body.toIndex(body.load(0, c)));
    body.store(0, numbers ? body.toIndex(body.load(1, c)) : c, body.toI64(count));
  });
  return body.finish().getResult(0);
}

namespace {

struct LowerUnique : OpRewritePattern<graph::UniqueOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::UniqueOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getValues());
    unsigned axis = op.getAxis();
    SliceClasses classes(rewriter, op);
    Value first = classes.getFirst();

    ComputeBuilder values(rewriter, op.getLoc(), shape);
    unsigned position = values.read(first, {values.loop(axis)}), table = values.table(op.getOperand());
    FailureOr<ComputeOp> taken = values.create(graph::getElementType(op.getValues()), [&](ComputeBody &body) {
      SmallVector<Value> indices;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        indices.push_back(body.loop(dim));
      indices[axis] = arith::IndexCastOp::create(body.builder, body.builder.getIndexType(), body.input(position));
      return body.readTable(table, indices);
    });
    rewriter.replaceOp(op, {taken->getResult(0), first, classes.getInverse(), classes.getCounts()});
    return success();
  }
};

} // namespace

void populateUniquePatterns(RewritePatternSet &patterns) { patterns.add<LowerUnique>(patterns.getContext()); }

} // namespace freestone::tile
