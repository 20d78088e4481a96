#include "compiler/tile/lowering/Lines.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;

namespace freestone::tile {

namespace {

/// A tile is one line along the axis.
struct LowerCumulate : OpRewritePattern<graph::CumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CumulateOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    Type element = type.getElementType(), wide = getAccumulatorType(element);
    Lines lines(type, op.getAxis());
    OpaqueBuilder line(rewriter, op.getLoc(), lines.getCount(), op.getOperand(), type);
    Value stride = line.size(lines.inner), length = line.size(lines.length), one = line.constant(1);
    Value begin = lines.getBegin(line, line.tile(), lines.length);
    Value identity = arith::ConstantOp::create(line.ir(), getIdentity(op.getKind(), wide));
    line.loop(line.constant(0), length, identity, [&](Value i, ValueRange carried) -> SmallVector<Value> {
      Value place = op.getReverse() ? line.sub(line.sub(length, one), i) : i;
      Value position = line.add(begin, line.mul(place, stride));
      Value value = emitCast(line.ir(), line.load(0, position), element, wide);
      Value next = emitCombine(line.ir(), op.getKind(), carried[0], value, wide);
      line.store(0, position, emitCast(line.ir(), op.getExclusive() ? carried[0] : next, wide, element));
      return {next};
    });
    rewriter.replaceOp(op, line.finish());
    return success();
  }
};

} // namespace

void populateCumulatePatterns(RewritePatternSet &patterns) { patterns.add<LowerCumulate>(patterns.getContext()); }

} // namespace freestone::tile
