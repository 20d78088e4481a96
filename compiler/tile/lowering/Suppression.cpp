// Non-maximum suppression. A tile is one class of one batch: a heap gives its candidates, best first, and each is
// compared with a vector of the boxes kept before it at once.
#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

class Suppression {
public:
  Suppression(PatternRewriter &rewriter, graph::SuppressOp op)
      : shape(graph::getShape(op.getScores())),
        body(rewriter, op.getLoc(), shape[0] * shape[1], op->getOperands(), getResultTypes(rewriter, op)), b(body.ir()),
        count(body.size(shape[2])), zero(body.constant(0)), one(body.constant(1)) {}

  OpaqueOp lower() {
    Value candidates = listCandidates();
    makeHeap(candidates);
    Value begin = body.mul(body.tile(), count), kept = keepBest(candidates, begin);
    Value none = arith::ConstantIntOp::create(b, b.getI32Type(), -1);
    body.loopInVectors(kept, count, [&](Value i) { body.store(selected, body.add(begin, i), none); });
    return body.finish();
  }

private:
  static constexpr int64_t lanes = 16;

  enum Operand : unsigned { boxes, scores, limit, overlap, threshold };
  /// The result, and scratch: positions and scores of the candidates, as a heap, and the sides and areas of the kept
  /// boxes. Those in whole vectors behind the last one have no extent.
  enum Result : unsigned { selected, position, score, side, area = side + 4 };

  /// A candidate.
  struct Entry {
    Value score, position;
  };

  static SmallVector<graph::TensorType> getResultTypes(OpBuilder &builder, graph::SuppressOp op) {
    Expr length = graph::getShape(op.getScores())[2], whole = Expr::ceilDiv(length, lanes) * lanes;
    SmallVector<graph::TensorType> types = {cast<graph::TensorType>(op.getType())};
    types.push_back(graph::TensorType::get(ArrayRef{length}, builder.getI64Type()));
    types.push_back(graph::TensorType::get(ArrayRef{length}, builder.getF32Type()));
    types.append(area + 1 - side, graph::TensorType::get(ArrayRef{whole}, builder.getF32Type()));
    return types;
  }

  Value isGreater(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value negate(Value condition) { return arith::XOrIOp::create(b, condition, arith::ConstantIntOp::create(b, 1, 1)); }
  Value number(float value) { return arith::ConstantOp::create(b, b.getF32FloatAttr(value)); }
  Value spread(Value scalar) {
    return vector::BroadcastOp::create(b, VectorType::get({lanes}, b.getF32Type()), scalar);
  }

  Entry load(Value place) { return {body.loadResult(score, place), body.loadResult(position, place)}; }
  void store(Value place, Entry entry) {
    body.store(score, place, entry.score);
    body.store(position, place, entry.position);
  }

  /// Of equal scores the one with the earlier position.
  Value precedes(Entry x, Entry y) {
    Value isEqual = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x.score, y.score);
    Value isEarlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x.position, y.position);
    return arith::OrIOp::create(b, isGreater(x.score, y.score), both(isEqual, isEarlier));
  }

  /// Those above the threshold; their number.
  Value listCandidates() {
    Value least = body.load(threshold, zero), first = body.mul(body.tile(), count);
    return body.loop(zero, count, zero, [&](Value i, ValueRange found) -> SmallVector<Value> {
      Value value = body.load(scores, body.add(first, i));
      store(found[0], {value, body.toI64(i)});
      return {arith::SelectOp::create(b, isGreater(value, least), body.add(found[0], one), found[0])};
    })[0];
  }

  void makeHeap(Value size) {
    Value parents = body.div(size, body.constant(2));
    body.loop(zero, parents, [&](Value i) {
      Value parent = body.sub(body.sub(parents, one), i);
      sink(parent, size, load(parent));
    });
  }

  /// Puts an entry at a place of the heap of `size` entries, or below it, where better ones are.
  void sink(Value place, Value size, Entry entry) {
    Type index = b.getIndexType();
    Value last = body.max(body.sub(size, one), zero);
    auto loop = scf::WhileOp::create(
        b, TypeRange{index, index}, place,
        [&](OpBuilder &, Location, ValueRange at) {
          Value left = body.add(body.mul(at[0], body.constant(2)), one), right = body.add(left, one);
          Value first = body.min(left, last), second = body.min(right, last);
          Value takesRight = both(body.less(right, size), precedes(load(second), load(first)));
          Value best = arith::SelectOp::create(b, takesRight, second, first);
          scf::ConditionOp::create(b, both(body.less(left, size), precedes(load(best), entry)),
                                   ValueRange{at[0], best});
        },
        [&](OpBuilder &, Location, ValueRange move) {
          store(move[0], load(move[1]));
          scf::YieldOp::create(b, move[1]);
        });
    store(loop.getResult(0), entry);
  }

  /// The sides of a box, and its area.
  SmallVector<Value> loadBox(Value place) {
    Value batch = body.div(body.tile(), body.size(shape[1])), four = body.constant(4);
    Value begin = body.mul(body.add(body.mul(batch, count), place), four);
    SmallVector<Value> box;
    for (int64_t number = 0; number < 4; ++number)
      box.push_back(body.load(boxes, body.add(begin, body.constant(number))));
    box.push_back(
        arith::MulFOp::create(b, arith::SubFOp::create(b, box[2], box[0]), arith::SubFOp::create(b, box[3], box[1])));
    return box;
  }

  /// Whether a vector of kept boxes has one that overlaps this one.
  Value overlaps(ArrayRef<Value> box, Value first) {
    Value common, none = spread(number(0));
    for (unsigned axis : {0, 1}) {
      Value low = arith::MaximumFOp::create(b, spread(box[axis]), body.loadResultRun(side + axis, first, lanes));
      Value high =
          arith::MinimumFOp::create(b, spread(box[axis + 2]), body.loadResultRun(side + axis + 2, first, lanes));
      Value length = arith::MaximumFOp::create(b, arith::SubFOp::create(b, high, low), none);
      common = common ? arith::MulFOp::create(b, common, length).getResult() : length;
    }
    Value sum = arith::AddFOp::create(b, spread(box[4]), body.loadResultRun(area, first, lanes));
    Value part = arith::DivFOp::create(b, common, arith::SubFOp::create(b, sum, common));
    // Boxes without an area have none in common.
    Value isOver = both(isGreater(common, none), isGreater(part, spread(body.load(overlap, zero))));
    return vector::ReductionOp::create(b, vector::CombiningKind::OR, isOver);
  }

  Value isCovered(ArrayRef<Value> box, Value kept) {
    Value no = arith::ConstantIntOp::create(b, 0, 1);
    auto loop = scf::WhileOp::create(
        b, TypeRange{b.getIndexType(), b.getI1Type()}, ValueRange{zero, no},
        [&](OpBuilder &, Location, ValueRange state) {
          scf::ConditionOp::create(b, both(body.less(state[0], kept), negate(state[1])), state);
        },
        [&](OpBuilder &, Location, ValueRange state) {
          scf::YieldOp::create(b, ValueRange{body.add(state[0], body.constant(lanes)), overlaps(box, state[0])});
        });
    return loop.getResult(1);
  }

  void keep(ArrayRef<Value> box, Value kept) {
    Value width = body.constant(lanes), endless = number(INFINITY);
    body.onlyIf(body.isEqual(body.rem(kept, width), zero),
                [&] { body.loop(zero, width, [&](Value i) { body.store(side, body.add(kept, i), endless); }); });
    for (unsigned number = 0; number < 5; ++number)
      body.store(side + number, kept, box[number]);
  }

  /// Writes the kept positions; their number.
  Value keepBest(Value candidates, Value begin) {
    Value most = body.toIndex(body.load(limit, zero));
    Type index = b.getIndexType();
    auto loop = scf::WhileOp::create(
        b, TypeRange{index, index}, ValueRange{candidates, zero},
        [&](OpBuilder &, Location, ValueRange state) {
          scf::ConditionOp::create(b, both(body.less(zero, state[0]), body.less(state[1], most)), state);
        },
        [&](OpBuilder &, Location, ValueRange state) {
          Value best = body.loadResult(position, zero), size = body.sub(state[0], one), kept = state[1];
          sink(zero, size, load(size));
          SmallVector<Value> box = loadBox(body.toIndex(best));
          Value takes = negate(isCovered(box, kept));
          body.onlyIf(takes, [&] {
            keep(box, kept);
            body.store(selected, body.add(begin, kept), arith::TruncIOp::create(b, b.getI32Type(), best));
          });
          scf::YieldOp::create(b, ValueRange{size, arith::SelectOp::create(b, takes, body.add(kept, one), kept)});
        });
    return loop.getResult(1);
  }

  ArrayRef<Expr> shape;
  OpaqueBuilder body;
  ImplicitLocOpBuilder &b;
  Value count, zero, one;
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
