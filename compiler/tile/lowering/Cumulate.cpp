#include "compiler/tile/lowering/Lines.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

struct LowerCumulate : OpRewritePattern<graph::CumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CumulateOp op, PatternRewriter &rewriter) const override {
    Lines lines(cast<graph::TensorType>(op.getOperand().getType()), op.getAxis());
    OpaqueOp cumulated = lines.inner.isConstant(1) ? lowerLines(op, lines, rewriter) : lowerBlocks(op, lines, rewriter);
    rewriter.replaceOp(op, cumulated.getResult(0));
    return success();
  }

private:
  /// A tile is one line along the axis.
  static OpaqueOp lowerLines(graph::CumulateOp op, const Lines &lines, PatternRewriter &rewriter);
  /// A tile is a block of neighbouring lines, vectorized across them: at one position of the axis their elements are
  /// contiguous, as are their accumulators in scratch.
  static OpaqueOp lowerBlocks(graph::CumulateOp op, const Lines &lines, PatternRewriter &rewriter);

  static Value getPlace(graph::CumulateOp op, OpaqueBuilder &body, Value number, Value length) {
    return op.getReverse() ? body.sub(body.sub(length, body.constant(1)), number) : number;
  }
};

} // namespace

OpaqueOp LowerCumulate::lowerLines(graph::CumulateOp op, const Lines &lines, PatternRewriter &rewriter) {
  auto type = cast<graph::TensorType>(op.getOperand().getType());
  Type element = type.getElementType(), wide = getAccumulatorType(element);
  OpaqueBuilder line(rewriter, op.getLoc(), lines.getCount(), op.getOperand(), type);
  Value length = line.size(lines.length), begin = lines.getBegin(line, line.tile(), lines.length);
  Value identity = arith::ConstantOp::create(line.ir(), getIdentity(op.getKind(), wide));
  line.loop(line.constant(0), length, identity, [&](Value i, ValueRange carried) -> SmallVector<Value> {
    Value position = line.add(begin, getPlace(op, line, i, length));
    Value value = emitCast(line.ir(), line.load(0, position), element, wide);
    Value next = emitCombine(line.ir(), op.getKind(), carried[0], value, wide);
    line.store(0, position, emitCast(line.ir(), op.getExclusive() ? carried[0] : next, wide, element));
    return {next};
  });
  return line.finish();
}

OpaqueOp LowerCumulate::lowerBlocks(graph::CumulateOp op, const Lines &lines, PatternRewriter &rewriter) {
  constexpr int64_t blockLines = 512;
  // Accumulators are loaded and stored once for as many, which are read as streams beside each other.
  constexpr int64_t rowsTogether = 4;
  auto type = cast<graph::TensorType>(op.getOperand().getType());
  Type element = type.getElementType(), wide = getAccumulatorType(element);
  Expr room = Expr::constant(op.getContext(), blockLines), blocks = Expr::ceilDiv(lines.inner, room);
  OpaqueBuilder tile(rewriter, op.getLoc(), lines.outer * blocks, op.getOperand(),
                     {type, graph::TensorType::get(ArrayRef{room}, wide)});
  constexpr unsigned result = 0, accumulators = 1;
  Value zero = tile.constant(0), length = tile.size(lines.length), stride = tile.size(lines.inner),
        blockCount = tile.size(blocks), block = tile.constant(blockLines);
  Value outer = tile.div(tile.tile(), blockCount), first = tile.mul(tile.rem(tile.tile(), blockCount), block);
  Value width = tile.min(block, tile.sub(stride, first));
  Value begin = tile.add(tile.mul(outer, tile.mul(length, stride)), first);
  Value identity = arith::ConstantOp::create(tile.ir(), getIdentity(op.getKind(), wide));
  tile.loopInVectors(zero, width, [&](Value i) { tile.store(accumulators, i, identity); });
  auto addRows = [&](Value first, int64_t count) {
    auto rows = llvm::map_to_vector(llvm::seq(count), [&](int64_t row) {
      Value place = getPlace(op, tile, tile.add(first, tile.constant(row)), length);
      return tile.add(begin, tile.mul(place, stride));
    });
    tile.loopInVectors(zero, width, [&](Value i) {
      Value sum = tile.loadResult(accumulators, i);
      for (Value row : rows) {
        Value position = tile.add(row, i), value = emitCast(tile.ir(), tile.load(0, position), element, wide);
        Value next = emitCombine(tile.ir(), op.getKind(), sum, value, wide);
        tile.store(result, position, emitCast(tile.ir(), op.getExclusive() ? sum : next, wide, element));
        sum = next;
      }
      tile.store(accumulators, i, sum);
    });
  };
  Value together = tile.constant(rowsTogether), whole = tile.mul(tile.div(length, together), together);
  tile.loop(zero, whole, together, [&](Value number) { addRows(number, rowsTogether); });
  tile.loop(whole, length, [&](Value number) { addRows(number, 1); });
  return tile.finish();
}

void populateCumulatePatterns(RewritePatternSet &patterns) { patterns.add<LowerCumulate>(patterns.getContext()); }

} // namespace freestone::tile
