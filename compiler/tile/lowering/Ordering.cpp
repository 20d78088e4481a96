#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

Value emitPrecedes(ImplicitLocOpBuilder &b, Value x, Value y, Type element, bool descending) {
  if (descending)
    std::swap(x, y);
  Value less = emitCompare(b, graph::CompareKind::lt, x, y, element);
  if (!isa<FloatType>(element))
    return less;
  Value xIsNumber = emitCompare(b, graph::CompareKind::eq, x, x, element);
  Value yIsNan = emitCompare(b, graph::CompareKind::ne, y, y, element);
  return arith::OrIOp::create(b, less, arith::AndIOp::create(b, xIsNumber, yIsNan));
}

namespace {

/// Sorts lines along an axis by merging ever longer runs of positions, which is stable; a tile is one line. The
/// positions go back and forth between two results that nobody else sees.
class LineSorter {
public:
  LineSorter(PatternRewriter &rewriter, Location location, Value operand, int64_t axis, Expr kept, bool descending)
      : type(cast<graph::TensorType>(operand.getType())), descending(descending), axisLength(type.getDim(axis)),
        keptLength(kept), inner(Expr::constant(rewriter.getContext(), 1)), outer(inner),
        line(rewriter, location, getLines(axis), operand, getResultTypes(rewriter, axis)) {}

  OpaqueOp sort() {
    Value zero = line.constant(0), length = line.size(axisLength), stride = line.size(inner);
    Value outerNumber = line.div(line.tile(), stride), innerNumber = line.rem(line.tile(), stride);
    keys = line.add(line.mul(line.mul(outerNumber, length), stride), innerNumber);
    positions = line.mul(line.tile(), length);
    line.loop(zero, length, [&](Value i) { line.store(2, line.add(positions, i), line.toI64(i)); });
    emitPasses(length);

    Value kept = line.size(keptLength);
    Value target = line.add(line.mul(line.mul(outerNumber, kept), stride), innerNumber);
    Value there = line.min(kept, length);
    CheckOp::create(line.ir(), arith::CmpIOp::create(line.ir(), arith::CmpIPredicate::eq, there, kept),
                    "more elements are asked for than there are");
    line.loop(zero, there, [&](Value i) {
      Value position = line.loadResult(2, line.add(positions, i));
      Value place = line.add(target, line.mul(i, stride));
      line.store(0, place, line.load(0, getKeyPlace(line.toIndex(position))));
      line.store(1, place, position);
    });
    return line.finish();
  }

private:
  Expr getLines(int64_t axis) {
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (static_cast<int64_t>(dim) < axis)
        outer = outer * extent;
      else if (static_cast<int64_t>(dim) > axis)
        inner = inner * extent;
    }
    return outer * inner;
  }

  SmallVector<graph::TensorType> getResultTypes(Builder &builder, int64_t axis) {
    SmallVector<Expr> shape(type.getShape());
    shape[axis] = keptLength;
    graph::TensorType values = type.withShape(shape), scratch = type.withElementType(builder.getI64Type());
    return {values, values.withElementType(builder.getI64Type()), scratch, scratch};
  }

  Value getKeyPlace(Value position) { return line.add(keys, line.mul(position, line.size(inner))); }

  /// Runs of one element, then of two, four, …; each pass merges into the second list and copies it back.
  void emitPasses(Value length) {
    ImplicitLocOpBuilder &b = line.ir();
    Value first = line.constant(1), two = line.constant(2);
    scf::WhileOp::create(
        b, TypeRange(b.getIndexType()), ValueRange(first),
        [&](OpBuilder &, Location, ValueRange width) {
          scf::ConditionOp::create(b, line.less(width[0], length), width);
        },
        [&](OpBuilder &, Location, ValueRange width) {
          Value runs = line.mul(width[0], two);
          line.loop(line.constant(0), length, runs, [&](Value begin) { emitMerge(begin, width[0], length); });
          line.loop(line.constant(0), length, [&](Value i) {
            Value place = line.add(positions, i);
            line.store(2, place, line.loadResult(3, place));
          });
          scf::YieldOp::create(b, runs);
        });
  }

  /// Merges [begin, begin + width) and what follows it. Of equals the left one goes first.
  void emitMerge(Value begin, Value width, Value length) {
    ImplicitLocOpBuilder &b = line.ir();
    Value middle = line.min(line.add(begin, width), length), end = line.min(line.add(middle, width), length);
    Value one = line.constant(1), last = line.sub(length, one);
    line.loop(begin, end, {begin, middle}, [&](Value i, ValueRange carried) -> SmallVector<Value> {
      Value left = carried[0], right = carried[1];
      auto positionAt = [&](Value place) { return line.loadResult(2, line.add(positions, line.min(place, last))); };
      Value leftPosition = positionAt(left), rightPosition = positionAt(right);
      Value leftKey = line.load(0, getKeyPlace(line.toIndex(leftPosition)));
      Value rightKey = line.load(0, getKeyPlace(line.toIndex(rightPosition)));
      Value precedes = emitPrecedes(b, rightKey, leftKey, type.getElementType(), descending);
      Value leftIsLeft = line.less(left, middle), rightIsLeft = line.less(right, end);
      Value leftIsGone = arith::XOrIOp::create(b, leftIsLeft, arith::ConstantIntOp::create(b, 1, 1));
      Value takesRight = arith::AndIOp::create(b, rightIsLeft, arith::OrIOp::create(b, leftIsGone, precedes));
      line.store(3, line.add(positions, i), arith::SelectOp::create(b, takesRight, rightPosition, leftPosition));
      return {arith::SelectOp::create(b, takesRight, left, line.add(left, one)),
              arith::SelectOp::create(b, takesRight, line.add(right, one), right)};
    });
  }

  graph::TensorType type;
  bool descending;
  Expr axisLength, keptLength, inner, outer;
  OpaqueBuilder line;
  Value keys, positions;
};

LogicalResult replaceBySorted(PatternRewriter &rewriter, Operation *op, LineSorter sorter) {
  OpaqueOp sorted = sorter.sort();
  rewriter.replaceOp(op, sorted.getResults().take_front(2));
  return success();
}

struct LowerSort : OpRewritePattern<graph::SortOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SortOp op, PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    return replaceBySorted(rewriter, op,
                           LineSorter(rewriter, op.getLoc(), op.getOperand(), axis,
                                      graph::getShape(op.getOperand())[axis], op.getDescending()));
  }
};

struct LowerTopK : OpRewritePattern<graph::TopKOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TopKOp op, PatternRewriter &rewriter) const override {
    return replaceBySorted(
        rewriter, op,
        LineSorter(rewriter, op.getLoc(), op.getOperand(), op.getAxis(), op.getK().getExpr(), !op.getSmallest()));
  }
};

} // namespace

void populateOrderingPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerSort, LowerTopK>(patterns.getContext());
}

} // namespace freestone::tile
