#include "compiler/tile/lowering/Lines.h"
#include "compiler/tile/lowering/Lowering.h"
#include "compiler/tile/lowering/MergeSort.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

/// An operator with two results, the ordered elements of lines and their positions. A tile is one line. Unused results
/// are not computed; scratch has the length of one line.
class LineOrdering {
protected:
  LineOrdering(PatternRewriter &rewriter, Operation *op, int64_t axis, bool descending, ArrayRef<Type> scratch,
               Expr scratchLength)
      : rewriter(rewriter), op(op), type(cast<graph::TensorType>(op->getOperand(0).getType())), lines(type, axis),
        kept(graph::getShape(op->getResult(0))[axis]), descending(descending),
        line(rewriter, op->getLoc(), lines.getCount(), op->getOperand(0), getResultTypes(scratch, scratchLength)),
        keys(lines.getBegin(line, line.tile(), lines.length)), ordered(lines.getBegin(line, line.tile(), kept)),
        stride(line.size(lines.inner)) {}

  Type getElement() { return type.getElementType(); }

  /// The result index of scratch buffer `i`.
  unsigned scratch(unsigned i) { return 2 - op->getResult(0).use_empty() - op->getResult(1).use_empty() + i; }

  Value getKeyPlace(Value position) { return line.add(keys, line.mul(position, stride)); }
  Value loadKey(Value position) { return line.load(0, getKeyPlace(position)); }
  Value precedes(Value x, Value y) { return emitPrecedes(line.ir(), x, y, getElement(), descending); }

  /// Writes entry `i` of the order to the results that are used.
  void emitResult(Value i, Value key, Value position) {
    Value place = line.add(ordered, line.mul(i, stride));
    Value values[] = {key, position};
    unsigned result = 0;
    for (auto [tensor, value] : llvm::zip_equal(op->getResults(), values))
      if (!tensor.use_empty())
        line.store(result++, place, value);
  }

  void replace() {
    OpaqueOp opaque = line.finish();
    unsigned result = 0;
    for (Value tensor : op->getResults())
      if (!tensor.use_empty())
        rewriter.replaceAllUsesWith(tensor, opaque.getResult(result++));
    rewriter.eraseOp(op);
  }

  PatternRewriter &rewriter;
  Operation *op;
  graph::TensorType type;
  Lines lines;
  Expr kept;
  bool descending;
  OpaqueBuilder line;
  Value keys, ordered, stride;

private:
  SmallVector<graph::TensorType> getResultTypes(ArrayRef<Type> scratch, Expr scratchLength) {
    SmallVector<graph::TensorType> types;
    for (Value tensor : op->getResults())
      if (!tensor.use_empty())
        types.push_back(cast<graph::TensorType>(tensor.getType()));
    for (Type element : scratch)
      types.push_back(graph::TensorType::get(ArrayRef<Expr>{scratchLength}, element));
    return types;
  }
};

/// Sorts whole lines.
class LineSorter : LineOrdering {
public:
  LineSorter(PatternRewriter &rewriter, graph::SortOp op)
      : LineOrdering(rewriter, op, op.getAxis(), op.getDescending(), {rewriter.getI64Type(), rewriter.getI64Type()},
                     graph::getShape(op.getOperand())[op.getAxis()]) {}

  void sort() {
    Value length = line.size(lines.length);
    unsigned list = scratch(0), other = scratch(1);
    Value zero = line.constant(0);
    emitMergeSort(line, zero, length, list, other, [&](Value x, Value y) { return precedes(loadKey(x), loadKey(y)); });
    line.loop(zero, length, [&](Value i) {
      Value position = line.loadResult(list, i);
      emitResult(i, loadKey(line.toIndex(position)), position);
    });
    replace();
  }
};

/// Selects the k best elements of a line in one pass with a heap, whose top is the last of them in order: most elements
/// of a long line do not precede the top. In a line that rises (towards better elements) most would, each with a change
/// of the heap: there, the best elements of classes give a threshold beforehand.
class LineSelector : LineOrdering {
public:
  LineSelector(PatternRewriter &rewriter, graph::TopKOp op)
      : LineOrdering(
            rewriter, op, op.getAxis(), !op.getSmallest(),
            {graph::getElementType(op.getOperand()), rewriter.getI64Type(), graph::getElementType(op.getOperand())},
            getNumClasses(op.getK().getExpr())) {}

  void select() {
    ImplicitLocOpBuilder &b = line.ir();
    Value zero = line.constant(0), one = line.constant(1), length = line.size(lines.length), asked = line.size(kept);
    Value count = line.min(asked, length);
    CheckOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, asked),
                    "more elements are asked for than there are");

    line.loop(zero, count, [&](Value i) { store(i, {loadKey(i), line.toI64(i)}); });
    makeHeap(zero, count);
    // With k = 0 there is no top to compare with.
    Value end = arith::SelectOp::create(b, line.less(zero, count), length, count);
    Value middle = line.min(end, line.max(count, line.div(end, line.constant(beginnings))));
    emitPass(count, middle, count, {});
    line.store(scratch(2), zero, load(zero).key);
    Value classes = line.size(getNumClasses(kept)), deals = line.div(line.sub(end, middle), classes);
    line.onlyIf(line.less(line.constant(leastDeals - 1), deals), [&] {
      Value rises = precedes(loadKey(line.sub(end, one)), load(zero).key);
      line.onlyIf(rises, [&] { emitLastOfBest(middle, count, classes, deals); });
    });
    emitPass(middle, end, count, line.loadResult(scratch(2), zero));
    // Repeatedly moves the top to the end.
    line.loop(one, count, [&](Value i) {
      Value last = line.sub(count, i);
      Entry entry = load(last);
      store(last, load(zero));
      sink(zero, zero, last, entry);
    });
    line.loop(zero, count, [&](Value i) {
      Entry entry = load(i);
      emitResult(i, entry.key, entry.position);
    });
    replace();
  }

private:
  /// An element of the line and its position, an i64.
  struct Entry {
    Value key, position;
  };

  /// Elements compared at once if they are contiguous.
  static constexpr int64_t blockElements = 32;
  /// The pass without a threshold ends at this fraction of a line.
  static constexpr int64_t beginnings = 16;
  /// Least elements of a class: for smaller ones, the threshold costs more than it saves.
  static constexpr int64_t leastDeals = 4;

  /// Twice the number of kept elements, rounded up to whole blocks.
  static Expr getNumClasses(Expr kept) {
    Expr block = Expr::constant(kept.context(), blockElements);
    return Expr::max(Expr::ceilDiv(kept * 2, block), Expr::constant(kept.context(), 1)) * blockElements;
  }

  Entry load(Value place) { return {line.loadResult(scratch(0), place), line.loadResult(scratch(1), place)}; }
  void store(Value place, Entry entry) {
    line.store(scratch(0), place, entry.key);
    line.store(scratch(1), place, entry.position);
  }

  /// Whether x comes after y in the order of results; of ties the one with the later position.
  Value follows(Entry x, Entry y) {
    ImplicitLocOpBuilder &b = line.ir();
    Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x.position, y.position);
    Value before = precedes(x.key, y.key), after = precedes(y.key, x.key);
    return arith::SelectOp::create(b, before, emitConstant(b, b.getI1Type(), 0),
                                   arith::OrIOp::create(b, after, isLater));
  }

  /// Makes a heap of the `count` entries from `begin` on.
  void makeHeap(Value begin, Value count) {
    Value parents = line.div(count, line.constant(2)), one = line.constant(1);
    line.loop(line.constant(0), parents, [&](Value i) {
      Value parent = line.sub(line.sub(parents, one), i);
      sink(begin, parent, count, load(line.add(begin, parent)));
    });
  }

  /// Stores a threshold to scratch: at least `count` elements from `from` on do not follow it. Element i is in class i
  /// mod `classes`; the threshold is the best element of a class, number `count` of these in order.
  void emitLastOfBest(Value from, Value count, Value classes, Value deals) {
    Value zero = line.constant(0), one = line.constant(1);
    line.loop(zero, classes, [&](Value i) { line.store(scratch(2), i, loadKey(line.add(from, i))); });
    line.loop(one, deals, [&](Value deal) {
      Value first = line.add(from, line.mul(deal, classes)), begin = getKeyPlace(first);
      auto keep = [&](Value i, Value key) {
        Value best = line.loadResult(scratch(2), i);
        line.store(scratch(2), i, arith::SelectOp::create(line.ir(), precedes(key, best), key, best));
      };
      if (lines.inner.isConstant(1))
        line.loopInVectors(zero, classes, [&](Value i) { keep(i, line.load(0, line.add(begin, i))); });
      else
        line.loop(zero, classes, [&](Value i) { keep(i, loadKey(line.add(first, i))); });
    });
    // The heap of these elements follows the line's heap in scratch.
    auto getBest = [&](Value i) { return Entry{line.loadResult(scratch(2), i), line.toI64(i)}; };
    line.loop(zero, count, [&](Value i) { store(line.add(count, i), getBest(i)); });
    makeHeap(count, count);
    line.loop(count, classes, [&](Value i) {
      Entry best = getBest(i);
      line.onlyIf(precedes(best.key, load(count).key), [&] { sink(count, zero, count, best); });
    });
    line.store(scratch(2), zero, load(count).key);
  }

  /// Sinks an entry from the free slot `hole` of a heap of `size` entries (at least 1), which starts at `begin`.
  void sink(Value begin, Value hole, Value size, Entry entry) {
    ImplicitLocOpBuilder &b = line.ir();
    Value one = line.constant(1), last = line.sub(size, one);
    auto at = [&](Value number) { return line.add(begin, number); };
    Type index = b.getIndexType();
    auto moves = scf::WhileOp::create(
        b, TypeRange({index, index}), ValueRange(hole),
        [&](OpBuilder &, Location, ValueRange hole) {
          Value left = line.add(line.mul(hole[0], line.constant(2)), one), right = line.min(line.add(left, one), last);
          Value isEntry = line.less(left, size);
          left = line.min(left, last);
          Value child = arith::SelectOp::create(b, follows(load(at(right)), load(at(left))), right, left);
          Value goesOn = arith::AndIOp::create(b, isEntry, follows(load(at(child)), entry));
          scf::ConditionOp::create(b, goesOn, {hole[0], child});
        },
        [&](OpBuilder &, Location, ValueRange places) {
          store(at(places[0]), load(at(places[1])));
          scf::YieldOp::create(b, places[1]);
        });
    store(at(moves.getResult(0)), entry);
  }

  /// Passes the elements [begin, end), which come after the heap's elements: ties keep those of the heap. Skips
  /// elements that follow the threshold `last` (null: none).
  void emitPass(Value begin, Value end, Value count, Value last) {
    auto passEach = [&](Value from, Value to) {
      line.loop(from, to, [&](Value i) {
        Value key = loadKey(i), zero = line.constant(0);
        Value goesIn = isAmongBest(key, load(zero).key, last, getElement());
        line.onlyIf(goesIn, [&] { sink(zero, zero, count, {key, line.toI64(i)}); });
      });
    };
    if (!lines.inner.isConstant(1))
      return passEach(begin, end);
    Value block = line.constant(blockElements);
    Value whole = line.sub(end, line.rem(line.sub(end, begin), block));
    line.loop(begin, whole, block, [&](Value first) {
      line.onlyIf(anyIsAmongBest(first, last), [&] { passEach(first, line.add(first, block)); });
    });
    passEach(whole, end);
  }

  Value isAmongBest(Value key, Value top, Value last, Type element) {
    ImplicitLocOpBuilder &b = line.ir();
    Value precedesTop = emitPrecedes(b, key, top, element, descending);
    if (!last)
      return precedesTop;
    Value follows = emitPrecedes(b, last, key, element, descending);
    Value no = arith::ConstantOp::create(b, b.getZeroAttr(follows.getType()));
    return arith::SelectOp::create(b, follows, no, precedesTop);
  }

  Value anyIsAmongBest(Value begin, Value last) {
    ImplicitLocOpBuilder &b = line.ir();
    Type element = getElement(), wide = getAccumulatorType(element);
    Value run = line.loadRun(0, getKeyPlace(begin), blockElements);
    auto type = cast<VectorType>(run.getType());
    auto widen = [&](Value keys) -> Value {
      return wide == element ? keys : arith::ExtFOp::create(b, VectorType::get(type.getShape(), wide), keys);
    };
    auto spread = [&](Value key) -> Value { return key ? widen(vector::BroadcastOp::create(b, type, key)) : Value(); };
    Value are = isAmongBest(widen(run), spread(load(line.constant(0)).key), spread(last), wide);
    return vector::ReductionOp::create(b, vector::CombiningKind::OR, are);
  }
};

struct LowerSort : OpRewritePattern<graph::SortOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SortOp op, PatternRewriter &rewriter) const override {
    LineSorter(rewriter, op).sort();
    return success();
  }
};

struct LowerTopK : OpRewritePattern<graph::TopKOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TopKOp op, PatternRewriter &rewriter) const override {
    LineSelector(rewriter, op).select();
    return success();
  }
};

} // namespace

void populateOrderingPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerSort, LowerTopK>(patterns.getContext());
}

} // namespace freestone::tile
