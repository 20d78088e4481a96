// Non-maximum suppression. A tile is one class of one batch.
#include "compiler/tile/lowering/Lowering.h"
#include "compiler/tile/lowering/MergeSort.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

class Suppression {
public:
  Suppression(PatternRewriter &rewriter, graph::SuppressOp op)
      : shape(graph::getShape(op.getScores())),
        body(rewriter, op.getLoc(), shape[0] * shape[1], op->getOperands(), getResultTypes(rewriter, op)),
        count(body.size(shape[2])), zero(body.constant(0)) {}

  OpaqueOp lower() {
    Value candidates = listCandidates();
    emitMergeSort(body, zero, candidates, order, sorted,
                  [&](Value a, Value b) { return isGreater(body.loadResult(score, a), body.loadResult(score, b)); });
    loadBoxes(candidates);
    Value begin = body.mul(body.tile(), count), kept = keepBest(candidates, begin);
    Value none = arith::ConstantIntOp::create(body.ir(), body.ir().getI32Type(), -1);
    body.loopInVectors(kept, count, [&](Value i) { body.store(selected, body.add(begin, i), none); });
    return body.finish();
  }

private:
  enum Operand : unsigned { boxes, scores, limit, overlap, threshold };
  /// The result, and scratch of the length of a class: positions and scores of the candidates, their order, and then
  /// in that order their positions, sides, areas, and whether they are covered (1) or not (0).
  enum Result : unsigned { selected, position, order, sorted, score, side, area = side + 4, covered };

  static SmallVector<graph::TensorType> getResultTypes(OpBuilder &builder, graph::SuppressOp op) {
    Expr length = graph::getShape(op.getScores())[2];
    SmallVector<graph::TensorType> types = {cast<graph::TensorType>(op.getType())};
    types.append(score - position, graph::TensorType::get(ArrayRef{length}, builder.getI64Type()));
    types.append(covered + 1 - score, graph::TensorType::get(ArrayRef{length}, builder.getF32Type()));
    return types;
  }

  Value isGreater(Value x, Value y) { return arith::CmpFOp::create(body.ir(), arith::CmpFPredicate::OGT, x, y); }
  Value number(float value) { return arith::ConstantOp::create(body.ir(), body.ir().getF32FloatAttr(value)); }

  /// Those above the threshold; their number.
  Value listCandidates() {
    Value least = body.load(threshold, zero), first = body.mul(body.tile(), count), one = body.constant(1);
    return body.loop(zero, count, zero, [&](Value i, ValueRange found) -> SmallVector<Value> {
      Value value = body.load(scores, body.add(first, i));
      body.store(position, found[0], body.toI64(i));
      body.store(score, found[0], value);
      return {arith::SelectOp::create(body.ir(), isGreater(value, least), body.add(found[0], one), found[0])};
    })[0];
  }

  void loadBoxes(Value candidates) {
    Value batch = body.div(body.tile(), body.size(shape[1])), four = body.constant(4);
    Value first = body.mul(batch, body.mul(count, four));
    body.loop(zero, candidates, [&](Value i) {
      Value place = body.loadResult(position, body.toIndex(body.loadResult(order, i)));
      Value begin = body.add(first, body.mul(body.toIndex(place), four));
      Value sides[4];
      for (unsigned number = 0; number < 4; ++number) {
        sides[number] = body.load(boxes, body.add(begin, body.constant(number)));
        body.store(side + number, i, sides[number]);
      }
      ImplicitLocOpBuilder &b = body.ir();
      body.store(area, i,
                 arith::MulFOp::create(b, arith::SubFOp::create(b, sides[2], sides[0]),
                                       arith::SubFOp::create(b, sides[3], sides[1])));
      body.store(covered, i, number(0));
      body.store(sorted, i, place);
    });
  }

  /// Marks the boxes behind number `best` that it overlaps.
  void cover(Value best, Value candidates) {
    Value most = body.load(overlap, zero), own[5];
    for (unsigned number = 0; number < 5; ++number)
      own[number] = body.loadResult(side + number, best);
    body.loopInVectors(body.add(best, body.constant(1)), candidates, [&](Value i) {
      ImplicitLocOpBuilder &b = body.ir();
      Value common;
      for (unsigned axis : {0, 1}) {
        Value low = arith::MaximumFOp::create(b, own[axis], body.loadResult(side + axis, i));
        Value high = arith::MinimumFOp::create(b, own[axis + 2], body.loadResult(side + axis + 2, i));
        Value length = arith::MaximumFOp::create(b, arith::SubFOp::create(b, high, low), number(0));
        common = common ? arith::MulFOp::create(b, common, length).getResult() : length;
      }
      Value both = arith::AddFOp::create(b, own[4], body.loadResult(area, i));
      Value part = arith::DivFOp::create(b, common, arith::SubFOp::create(b, both, common));
      // Boxes without an area have none in common.
      Value isOver = arith::AndIOp::create(b, isGreater(common, number(0)), isGreater(part, most));
      body.store(covered, i, arith::SelectOp::create(b, isOver, number(1), body.loadResult(covered, i)));
    });
  }

  /// Writes the kept positions; their number.
  Value keepBest(Value candidates, Value begin) {
    Value most = body.toIndex(body.load(limit, zero)), one = body.constant(1);
    return body.loop(zero, candidates, zero, [&](Value i, ValueRange kept) -> SmallVector<Value> {
      ImplicitLocOpBuilder &b = body.ir();
      Value isCovered = isGreater(body.loadResult(covered, i), number(0));
      Value isOpen = arith::XOrIOp::create(b, isCovered, arith::ConstantIntOp::create(b, 1, 1));
      Value takes = arith::AndIOp::create(b, isOpen, body.less(kept[0], most));
      body.onlyIf(takes, [&] {
        Value place = arith::TruncIOp::create(b, b.getI32Type(), body.loadResult(sorted, i));
        body.store(selected, body.add(begin, kept[0]), place);
        cover(i, candidates);
      });
      return {arith::SelectOp::create(b, takes, body.add(kept[0], one), kept[0])};
    })[0];
  }

  ArrayRef<Expr> shape;
  OpaqueBuilder body;
  Value count, zero;
};

struct LowerSuppress : OpRewritePattern<graph::SuppressOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SuppressOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Suppression(rewriter, op).lower().getResult(0));
    return success();
  }
};

} // namespace

void populateSuppressionPatterns(RewritePatternSet &patterns) { patterns.add<LowerSuppress>(patterns.getContext()); }

} // namespace freestone::tile
