#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// A tile is one line along the axis.
struct LowerCumulate : OpRewritePattern<graph::CumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CumulateOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    Type element = type.getElementType(), wide = getAccumulatorType(element);
    int64_t axis = op.getAxis();
    Expr outer = Expr::constant(getContext(), 1), inner = outer;
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (static_cast<int64_t>(dim) < axis)
        outer = outer * extent;
      else if (static_cast<int64_t>(dim) > axis)
        inner = inner * extent;
    }
    OpaqueBuilder line(rewriter, op.getLoc(), outer * inner, op.getOperand(), type);
    Value stride = line.size(inner), length = line.size(type.getDim(axis)), one = line.constant(1);
    Value begin =
        line.add(line.mul(line.mul(line.div(line.tile(), stride), length), stride), line.rem(line.tile(), stride));
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
