#include "compiler/tile/lowering/Lines.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Finds the distinct slices along an axis, in one tile: sorted, equal slices are neighbours. Lists are as long as the
/// number of slices; the number of distinct slices is the first result.
class SliceFinder {
public:
  // The results of the program; the last two are scratch.
  enum { count, first, inverse, counts, order, places, numResults };

  SliceFinder(PatternRewriter &rewriter, graph::UniqueOp op)
      : type(cast<graph::TensorType>(op.getOperand().getType())), sorted(op.getSorted()), lines(type, op.getAxis()),
        one(Expr::constant(rewriter.getContext(), 1)),
        body(rewriter, op.getLoc(), one, op.getOperand(), getResultTypes(rewriter)) {}

  OpaqueOp find() {
    Value zero = body.constant(0), length = body.size(lines.length);
    emitMergeSort(body, length, order, places, [&](Value a, Value b) { return precedes(a, b); });
    // The sort is stable: the first of equal slices is the first one in the operand as well.
    body.loop(zero, length, zero, [&](Value i, ValueRange previous) -> SmallVector<Value> {
      Value slice = body.toIndex(body.loadResult(order, i));
      Value isNew = arith::OrIOp::create(body.ir(), body.isEqual(i, zero), precedes(previous[0], slice));
      Value equal = arith::SelectOp::create(body.ir(), isNew, slice, previous[0]);
      body.store(inverse, slice, body.toI64(equal));
      return {equal};
    });
    ValueRange total = body.loop(zero, length, zero, [&](Value i, ValueRange known) -> SmallVector<Value> {
      return {emitSlice(sorted ? body.toIndex(body.loadResult(order, i)) : i, known[0])};
    });
    body.store(count, zero, body.toI64(total[0]));
    return body.finish();
  }

private:
  SmallVector<graph::TensorType> getResultTypes(Builder &builder) {
    auto list = graph::TensorType::get(ArrayRef<Expr>{lines.length}, builder.getI64Type());
    SmallVector<graph::TensorType> types(numResults, list);
    types[count] = list.withShape(ArrayRef<Expr>{one});
    return types;
  }

  /// Element number `element` of a slice.
  Value load(Value slice, Value element) {
    return body.load(0, body.add(lines.getBegin(body, element, lines.length), body.mul(slice, body.size(lines.inner))));
  }

  /// Whether slice a comes before slice b in lexicographic order.
  Value precedes(Value a, Value b) {
    ImplicitLocOpBuilder &ir = body.ir();
    Type element = type.getElementType();
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

  /// Counts a slice in its class of equal slices, whose first member is in `inverse`, and writes the class number
  /// there: `known` for a new class. Returns the number of classes so far.
  Value emitSlice(Value slice, Value known) {
    ImplicitLocOpBuilder &ir = body.ir();
    Value zero = body.constant(0), one = body.constant(1);
    Value equal = body.toIndex(body.loadResult(inverse, slice)), isNew = body.isEqual(equal, slice);
    body.onlyIf(isNew, [&] {
      body.store(places, slice, body.toI64(known));
      body.store(first, known, body.toI64(slice));
      body.store(counts, known, body.toI64(zero));
    });
    Value place = body.loadResult(places, equal), counted = body.loadResult(counts, body.toIndex(place));
    body.store(counts, body.toIndex(place), arith::AddIOp::create(ir, counted, body.toI64(one)));
    body.store(inverse, slice, place);
    return arith::SelectOp::create(ir, isNew, body.add(known, one), known);
  }

  graph::TensorType type;
  bool sorted;
  Lines lines;
  Expr one;
  OpaqueBuilder body;
};

struct LowerUnique : OpRewritePattern<graph::UniqueOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::UniqueOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getValues());
    unsigned axis = op.getAxis();
    OpaqueOp finder = SliceFinder(rewriter, op).find();
    if (std::optional<StringRef> symbol = shape[axis].asSymbol()) {
      finder->setAttr("binds", rewriter.getStringAttr(*symbol));
      finder->setAttr("bound", graph::getShape(op.getOperand())[axis].attr());
    }

    ComputeBuilder values(rewriter, op.getLoc(), shape);
    unsigned position = values.read(finder.getResult(SliceFinder::first), {values.loop(axis)});
    unsigned table = values.table(op.getOperand());
    FailureOr<ComputeOp> taken = values.create(graph::getElementType(op.getValues()), [&](ComputeBody &body) {
      SmallVector<Value> indices;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        indices.push_back(body.loop(dim));
      indices[axis] = arith::IndexCastOp::create(body.builder, body.builder.getIndexType(), body.input(position));
      return body.readTable(table, indices);
    });
    auto shorten = [&](unsigned result) -> Value {
      ComputeBuilder list(rewriter, op.getLoc(), ArrayRef<Expr>{shape[axis]});
      unsigned operand = list.read(finder.getResult(result));
      return list.create(rewriter.getI64Type(), [&](ComputeBody &body) { return body.input(operand); })->getResult(0);
    };
    rewriter.replaceOp(op, {taken->getResult(0), shorten(SliceFinder::first), finder.getResult(SliceFinder::inverse),
                            shorten(SliceFinder::counts)});
    return success();
  }
};

} // namespace

void populateUniquePatterns(RewritePatternSet &patterns) { patterns.add<LowerUnique>(patterns.getContext()); }

} // namespace freestone::tile
