#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Finds the different slices along an axis, in one tile: every slice is compared with those found before. All lists
/// have room for as many as there are slices; the number found is the first result.
class SliceFinder {
public:
  // The results of the program.
  enum { count, first, inverse, counts, found, occurrences, places, numResults };

  SliceFinder(PatternRewriter &rewriter, graph::UniqueOp op)
      : type(cast<graph::TensorType>(op.getOperand().getType())), axis(op.getAxis()), sorted(op.getSorted()),
        inner(Expr::constant(rewriter.getContext(), 1)), outer(inner), one(inner),
        body(rewriter, op.getLoc(), one, op.getOperand(), getResultTypes(rewriter)) {
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (static_cast<int64_t>(dim) < axis)
        outer = outer * extent;
      else if (static_cast<int64_t>(dim) > axis)
        inner = inner * extent;
    }
  }

  OpaqueOp find() {
    Value zero = body.constant(0), length = body.size(type.getDim(axis));
    ValueRange total = body.loop(zero, length, zero, [&](Value slice, ValueRange known) {
      return SmallVector<Value>{emitSlice(slice, known[0])};
    });
    body.store(count, zero, body.toI64(total[0]));
    body.loop(zero, total[0], [&](Value group) { emitPlace(group, total[0]); });
    body.loop(zero, length, [&](Value slice) {
      body.store(inverse, slice, body.loadResult(places, body.toIndex(body.loadResult(inverse, slice))));
    });
    return body.finish();
  }

private:
  SmallVector<graph::TensorType> getResultTypes(Builder &builder) {
    auto list = graph::TensorType::get(ArrayRef<Expr>{type.getDim(axis)}, builder.getI64Type());
    SmallVector<graph::TensorType> types(numResults, list);
    types[count] = list.withShape(ArrayRef<Expr>{one});
    return types;
  }

  Value load(Value slice, Value element) {
    Value stride = body.size(inner), length = body.size(type.getDim(axis));
    Value outerNumber = body.div(element, stride), innerNumber = body.rem(element, stride);
    return body.load(0, body.add(body.mul(body.add(body.mul(outerNumber, length), slice), stride), innerNumber));
  }

  /// Negative, 0 or positive as slice a comes before b, equals it or comes after.
  Value compare(Value a, Value b) {
    ImplicitLocOpBuilder &ir = body.ir();
    Type element = type.getElementType();
    Value zero = body.constant(0), less = body.constant(-1), greater = body.constant(1);
    return body.loop(zero, body.size(inner * outer), zero, [&](Value i, ValueRange order) -> SmallVector<Value> {
      Value x = load(a, i), y = load(b, i);
      Value isLess = emitPrecedes(ir, x, y, element, /*descending=*/false);
      Value isGreater = emitPrecedes(ir, y, x, element, /*descending=*/false);
      Value notLess = arith::SelectOp::create(ir, isGreater, greater, zero);
      Value here = arith::SelectOp::create(ir, isLess, less, notLess);
      Value undecided = arith::CmpIOp::create(ir, arith::CmpIPredicate::eq, order[0], zero);
      return {arith::SelectOp::create(ir, undecided, here, order[0])};
    })[0];
  }

  /// Looks a slice up among the `known` first ones, adds it where it is new, and returns how many are known then.
  Value emitSlice(Value slice, Value known) {
    ImplicitLocOpBuilder &ir = body.ir();
    Value zero = body.constant(0), one = body.constant(1);
    Value group = body.loop(zero, known, known, [&](Value candidate, ValueRange match) -> SmallVector<Value> {
      Value order = compare(slice, body.toIndex(body.loadResult(found, candidate)));
      Value equal = arith::CmpIOp::create(ir, arith::CmpIPredicate::eq, order, zero);
      return {arith::SelectOp::create(ir, equal, candidate, match[0])};
    })[0];
    Value isNew = arith::CmpIOp::create(ir, arith::CmpIPredicate::eq, group, known);
    body.onlyIf(isNew, [&] {
      body.store(found, group, body.toI64(slice));
      body.store(occurrences, group, body.toI64(zero));
    });
    body.store(occurrences, group, arith::AddIOp::create(ir, body.loadResult(occurrences, group), body.toI64(one)));
    body.store(inverse, slice, body.toI64(group));
    return arith::SelectOp::create(ir, isNew, body.add(known, one), known);
  }

  /// The place of a group among the results: as it was found, or after all that are smaller.
  void emitPlace(Value group, Value total) {
    ImplicitLocOpBuilder &ir = body.ir();
    Value zero = body.constant(0), position = body.loadResult(found, group), place = group;
    if (sorted)
      place = body.loop(zero, total, zero, [&](Value other, ValueRange smaller) -> SmallVector<Value> {
        Value order = compare(body.toIndex(body.loadResult(found, other)), body.toIndex(position));
        Value next = body.add(smaller[0], body.constant(1));
        return {arith::SelectOp::create(ir, body.less(order, zero), next, smaller[0])};
      })[0];
    body.store(places, group, body.toI64(place));
    body.store(first, place, position);
    body.store(counts, place, body.loadResult(occurrences, group));
  }

  graph::TensorType type;
  int64_t axis;
  bool sorted;
  Expr inner, outer, one;
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
