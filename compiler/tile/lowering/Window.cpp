#include "compiler/tile/lowering/Lowering.h"

#include "compiler/tile/IndexMaps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Loops over windows: the leading dimensions and the windows' places are parallel, the places within a window reduce.
struct WindowLoops {
  SmallVector<Expr> taps;
  /// Where the operand is read.
  SmallVector<Expr> indices;
  bool leavesOperand = false;
};

template <typename Op> WindowLoops getWindowLoops(Op op) {
  MLIRContext *context = op.getContext();
  WindowLoops loops;
  int64_t rank = graph::getShape(op.getOperand()).size(), spatial = op.getSizes().size(), leading = rank - spatial;
  auto loop = [&](unsigned number) { return getLoopSymbol(context, number); };
  for (int64_t dim = 0; dim < leading; ++dim)
    loops.indices.push_back(loop(dim));
  for (int64_t dim = 0; dim < spatial; ++dim) {
    loops.taps.push_back(Expr::constant(context, op.getSizes()[dim]));
    loops.indices.push_back(loop(leading + dim) * op.getStrides()[dim] + loop(rank + dim) * op.getDilations()[dim] -
                            op.getLow()[dim]);
    loops.leavesOperand |= !op.getLow()[dim].isConstant(0) || !op.getHigh()[dim].isConstant(0);
  }
  return loops;
}

struct LowerWindow : OpRewritePattern<graph::WindowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::WindowOp op, PatternRewriter &rewriter) const override {
    WindowLoops loops = getWindowLoops(op);
    Type element = graph::getElementType(op.getOperand()), wide = getAccumulatorType(element);
    TypedAttr identity = getIdentity(op.getKind(), element);
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()), loops.taps);
    unsigned operand = builder.read(op.getOperand(), loops.indices, loops.leavesOperand ? identity : TypedAttr());
    FailureOr<ComputeOp> compute =
        builder.create(wide, {getIdentity(op.getKind(), wide)}, [&](ComputeBody &body) -> SmallVector<Value> {
          Value value = emitCast(body.builder, body.input(operand), element, wide);
          return {emitCombine(body.builder, op.getKind(), body.accumulator(0), value, wide)};
        });
    if (failed(compute))
      return failure();
    FailureOr<Value> result = castTo(rewriter, op.getLoc(), compute->getResult(0), element);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }
};

/// The position of the maximum within the trailing dimensions. Padding is never the maximum.
struct LowerWindowArgmax : OpRewritePattern<graph::WindowArgmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::WindowArgmaxOp op, PatternRewriter &rewriter) const override {
    WindowLoops loops = getWindowLoops(op);
    Type element = graph::getElementType(op.getOperand()), wide = getAccumulatorType(element);
    Type i64 = rewriter.getI64Type();
    ArrayRef<Expr> shape = graph::getShape(op.getOperand());
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()), loops.taps);
    unsigned operand = builder.read(op.getOperand(), loops.indices, getLowest(element));
    unsigned spatial = loops.taps.size(), leading = shape.size() - spatial;
    auto body = [&](ComputeBody &scalars) -> SmallVector<Value> {
      ImplicitLocOpBuilder &b = scalars.builder;
      Value value = emitCast(b, scalars.input(operand), element, wide), best = scalars.accumulator(0);
      Value place = scalars.accumulator(1), zero = arith::ConstantIndexOp::create(b, 0), inside, index = zero;
      for (unsigned dim = leading; dim < leading + spatial; ++dim) {
        Value coordinate = scalars.index(loops.indices[dim]), extent = scalars.size(shape[dim]);
        // As unsigned numbers, negative coordinates are beyond the end.
        Value within = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, extent);
        inside = inside ? arith::AndIOp::create(b, inside, within).getResult() : within;
        index = arith::AddIOp::create(b, arith::MulIOp::create(b, index, extent), coordinate);
      }
      Value here = arith::IndexCastOp::create(b, i64, index);
      Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, emitConstant(b, i64, 0));
      Value better = emitCompare(b, graph::CompareKind::gt, value, best, wide);
      Value equal = emitCompare(b, graph::CompareKind::eq, value, best, wide);
      Value earlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, here, place);
      if (isa<FloatType>(wide)) {
        Value isNan = emitUnary(b, graph::UnaryKind::isnan, value, wide);
        Value bestIsNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, best, best);
        better = arith::OrIOp::create(b, better,
                                      arith::AndIOp::create(b, isNan, arith::OrIOp::create(b, bestIsNumber, earlier)));
      }
      Value takes = arith::OrIOp::create(b, better, arith::AndIOp::create(b, equal, earlier));
      takes = arith::AndIOp::create(b, inside, arith::OrIOp::create(b, takes, none));
      return {arith::SelectOp::create(b, takes, value, best), arith::SelectOp::create(b, takes, here, place)};
    };
    FailureOr<ComputeOp> compute = builder.create({wide, i64}, {getLowest(wide), rewriter.getI64IntegerAttr(-1)}, body);
    if (failed(compute))
      return failure();
    rewriter.replaceOp(op, compute->getResult(1));
    return success();
  }
};

} // namespace

void populateWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerWindow, LowerWindowArgmax>(patterns.getContext());
}

} // namespace freestone::tile
