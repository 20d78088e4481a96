#include "compiler/tile/lowering/Selection.h"

#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Which elements of a tensor are not 0, looked at a word of bits at a time.
class Selection {
public:
  /// Looks at the first `examined` elements.
  Selection(Value tensor, Expr examined);

  /// As listSelected. The program that adds up the counts has a first result, an i64: if it binds n, the value of the
  /// symbol that its attribute `binds` names, at most `bound`. The last program takes it as an operand, so that it
  /// comes after.
  Value listPositions(OpBuilder &builder, Location location, Expr n, bool binds);

private:
  static constexpr int64_t wordBits = 64;

  Value countSelected(OpBuilder &builder, Location location);
  Value isSelected(OpaqueBuilder &body, Value position);
  Value getWord(OpaqueBuilder &body, Value position);

  /// Goes through a tile's elements with a number that is carried along: `onWord` takes the position of the first of a
  /// word's elements, the word and the number, `onElement` a position and whether the element there is not 0.
  using Step = llvm::function_ref<Value(Value position, Value selected, Value carried)>;
  Value forTile(OpaqueBuilder &body, Value carried, Step onWord, Step onElement);

  graph::TensorType getList(Expr length) { return graph::TensorType::get(ArrayRef<Expr>{length}, i64); }

  Value tensor;
  Type element, i64;
  Expr examined, one, tiles;
};

Selection::Selection(Value tensor, Expr examined)
    : tensor(tensor), element(graph::getElementType(tensor)), i64(IntegerType::get(tensor.getContext(), 64)),
      examined(examined), one(Expr::constant(tensor.getContext(), 1)) {
  constexpr int64_t mostTiles = 32, leastElements = 16384;
  tiles = Expr::min(one * (mostTiles - 1), Expr::floorDiv(examined, leastElements)) + 1;
}

Value Selection::isSelected(OpaqueBuilder &body, Value position) {
  return emitCast(body.ir(), body.load(0, position), element, body.ir().getI1Type());
}

/// Floats are looked at as the integers of their bits, of which the sign alone does not make them other than 0.
Value Selection::getWord(OpaqueBuilder &body, Value position) {
  ImplicitLocOpBuilder &ir = body.ir();
  Value elements = body.loadRun(0, position, wordBits), bits = elements;
  auto lanes = cast<VectorType>(elements.getType());
  if (auto type = dyn_cast<FloatType>(element)) {
    unsigned width = type.getWidth();
    lanes = lanes.clone(ir.getIntegerType(width));
    bits = arith::BitcastOp::create(ir, lanes, elements);
    if (APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true).isNegative()) {
      auto magnitude = DenseElementsAttr::get(lanes, APInt::getSignedMaxValue(width));
      bits = arith::AndIOp::create(ir, bits, arith::ConstantOp::create(ir, magnitude));
    }
  }
  if (!lanes.getElementType().isInteger(1)) {
    Value zeros = arith::ConstantOp::create(ir, ir.getZeroAttr(lanes));
    bits = arith::CmpIOp::create(ir, arith::CmpIPredicate::ne, bits, zeros);
  }
  Value word = vector::BitCastOp::create(ir, VectorType::get({1}, i64), bits);
  return vector::ExtractOp::create(ir, word, 0);
}

Value Selection::forTile(OpaqueBuilder &body, Value carried, Step onWord, Step onElement) {
  Value length = body.size(Expr::ceilDiv(examined, tiles * wordBits) * wordBits), word = body.constant(wordBits);
  Value begin = body.mul(body.tile(), length), end = body.min(body.add(begin, length), body.size(examined));
  // The last tiles of few elements may have none.
  Value zero = body.constant(0), words = body.div(body.max(body.sub(end, begin), zero), word);
  carried = body.loop(zero, words, carried, [&](Value i, ValueRange last) -> SmallVector<Value> {
    Value position = body.add(begin, body.mul(i, word));
    return {onWord(position, getWord(body, position), last[0])};
  })[0];
  Value rest = body.add(begin, body.mul(words, word));
  return body.loop(rest, end, carried, [&](Value i, ValueRange last) -> SmallVector<Value> {
    return {onElement(i, isSelected(body, i), last[0])};
  })[0];
}

/// How many elements of each tile are not 0, as i64 [tiles].
Value Selection::countSelected(OpBuilder &builder, Location location) {
  OpaqueBuilder body(builder, location, tiles, tensor, getList(tiles));
  Value count = forTile(
      body, body.constant(0),
      [&](Value, Value word, Value count) {
        return body.add(count, body.toIndex(math::CtPopOp::create(body.ir(), word)));
      },
      [&](Value, Value selected, Value count) {
        return arith::SelectOp::create(body.ir(), selected, body.add(count, body.constant(1)), count).getResult();
      });
  body.store(0, body.tile(), body.toI64(count));
  return body.finish().getResult(0);
}

Value Selection::listPositions(OpBuilder &builder, Location location, Expr n, bool binds) {
  Value counts = countSelected(builder, location);

  OpaqueBuilder adding(builder, location, one, counts, {getList(one), getList(tiles)});
  ValueRange total = adding.loop(adding.constant(0), adding.size(tiles), adding.constant(0),
                                 [&](Value tile, ValueRange before) -> SmallVector<Value> {
                                   adding.store(1, tile, adding.toI64(before[0]));
                                   return {adding.add(before[0], adding.toIndex(adding.load(0, tile)))};
                                 });
  adding.store(0, adding.constant(0), adding.toI64(total[0]));
  OpaqueOp sums = adding.finish();
  if (std::optional<StringRef> symbol = n.asSymbol(); binds && symbol) {
    sums->setAttr("binds", builder.getStringAttr(*symbol));
    sums->setAttr("bound", examined.attr());
  }

  OpaqueBuilder body(builder, location, tiles, {tensor, sums.getResult(1), sums.getResult(0)}, getList(n));
  forTile(
      body, body.toIndex(body.load(1, body.tile())),
      [&](Value position, Value word, Value written) {
        ImplicitLocOpBuilder &ir = body.ir();
        Value count = body.toIndex(math::CtPopOp::create(ir, word)), zero = body.constant(0);
        Value first = body.toI64(position), lowest = arith::ConstantIntOp::create(ir, i64, 1);
        body.loop(zero, count, word, [&](Value i, ValueRange left) -> SmallVector<Value> {
          Value next = arith::AddIOp::create(ir, first, math::CountTrailingZerosOp::create(ir, left[0]));
          body.store(0, body.add(written, i), next);
          return {arith::AndIOp::create(ir, left[0], arith::SubIOp::create(ir, left[0], lowest))};
        });
        return body.add(written, count);
      },
      [&](Value position, Value selected, Value written) {
        body.onlyIf(selected, [&] { body.store(0, written, body.toI64(position)); });
        return arith::SelectOp::create(body.ir(), selected, body.add(written, body.constant(1)), written).getResult();
      });
  return body.finish().getResult(0);
}

struct LowerNonZero : OpRewritePattern<graph::NonZeroOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::NonZeroOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    Value positions = listSelected(rewriter, op.getLoc(), op.getOperand(), type.getNumElements(), shape[1]);
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    unsigned position = builder.read(positions, {builder.loop(1)});
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      ImplicitLocOpBuilder &b = body.builder;
      Value rest = arith::IndexCastOp::create(b, b.getIndexType(), body.input(position));
      Value result = body.size(Expr::constant(getContext(), 0)), one = arith::ConstantIndexOp::create(b, 1);
      for (int64_t dim = type.getRank(); dim > 0; --dim) {
        Value coordinate = rest;
        if (dim > 1) {
          // A dimension of size 0 has no elements to select.
          Value extent = arith::MaxSIOp::create(b, body.size(type.getDim(dim - 1)), one);
          coordinate = arith::RemUIOp::create(b, rest, extent);
          rest = arith::DivUIOp::create(b, rest, extent);
        }
        Value isDim = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.loop(0),
                                            arith::ConstantIndexOp::create(b, dim - 1));
        result = arith::SelectOp::create(b, isDim, coordinate, result);
      }
      return arith::IndexCastOp::create(b, b.getI64Type(), result).getResult();
    });
  }
};

struct LowerCountTo : OpRewritePattern<graph::CountToOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CountToOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    Type i64 = graph::getElementType(op.getNumber());
    Expr one = Expr::constant(getContext(), 1);
    OpaqueBuilder binding(rewriter, op.getLoc(), one, op.getNumber(), graph::TensorType::get(ArrayRef<Expr>{one}, i64));
    Value zero = binding.constant(0), number = binding.toIndex(binding.load(0, zero));
    Value isSize = arith::CmpIOp::create(binding.ir(), arith::CmpIPredicate::sge, number, zero);
    CheckOp::create(binding.ir(), isSize, op.getComplaint());
    binding.store(0, zero, binding.toI64(binding.max(number, zero)));
    OpaqueOp bound = binding.finish();
    if (std::optional<StringRef> symbol = shape[0].asSymbol())
      bound->setAttr("binds", rewriter.getStringAttr(*symbol));
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    // The operand puts it behind what binds its size.
    builder.read(bound.getResult(0), {Expr::constant(getContext(), 0)});
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      return arith::IndexCastOp::create(body.builder, i64, body.loop(0)).getResult();
    });
  }
};

struct LowerCompress : OpRewritePattern<graph::CompressOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CompressOp op, PatternRewriter &rewriter) const override {
    unsigned axis = op.getAxis();
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    Expr extent = graph::getShape(op.getOperand())[axis], length = graph::getShape(op.getCondition())[0];
    Value positions = listSelected(rewriter, op.getLoc(), op.getCondition(), Expr::min(extent, length), shape[axis]);
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    unsigned position = builder.read(positions, {builder.loop(axis)}), table = builder.table(op.getOperand());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      SmallVector<Value> indices;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        indices.push_back(body.loop(dim));
      indices[axis] = arith::IndexCastOp::create(body.builder, body.builder.getIndexType(), body.input(position));
      return body.readTable(table, indices);
    });
  }
};

} // namespace

Value listSelected(OpBuilder &builder, Location location, Value tensor, Expr examined, Expr n, bool binds) {
  return Selection(tensor, examined).listPositions(builder, location, n, binds);
}

void populateSelectionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCountTo, LowerCompress>(patterns.getContext());
}

} // namespace freestone::tile
