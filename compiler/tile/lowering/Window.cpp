#include "compiler/tile/lowering/Lowering.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Loops over windows: the leading dimensions and window positions are parallel, the taps are reduction loops.
struct WindowLoops {
  SmallVector<Expr> taps;
  /// The indices at which the operand is read.
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

/// The maximum of every window and its tap: the first of equals, -1 if all are padding. A tap's number is narrower than
/// a position in the operand.
FailureOr<ComputeOp> findMaxima(PatternRewriter &rewriter, graph::WindowArgmaxOp op, const WindowLoops &loops) {
  Type element = graph::getElementType(op.getOperand()), wide = getAccumulatorType(element);
  Type i32 = rewriter.getI32Type();
  ArrayRef<Expr> shape = graph::getShape(op.getOperand());
  ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()), loops.taps);
  unsigned operand =
      builder.read(op.getOperand(), loops.indices, loops.leavesOperand ? getLowest(element) : TypedAttr());
  unsigned spatial = loops.taps.size(), rank = shape.size();
  auto body = [&](ComputeBody &scalars) -> SmallVector<Value> {
    ImplicitLocOpBuilder &b = scalars.builder;
    Value value = emitCast(b, scalars.input(operand), element, wide), best = scalars.accumulator(0);
    Value place = scalars.accumulator(1), zero = emitConstant(b, i32, 0);
    Expr tap = Expr::constant(b.getContext(), 0);
    for (unsigned dim = 0; dim < spatial; ++dim)
      tap = tap * loops.taps[dim] + builder.loop(rank + dim);
    Value here = arith::IndexCastOp::create(b, i32, scalars.index(tap));
    Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, zero);
    Value earlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, here, place);
    Value better = emitCompare(b, graph::CompareKind::gt, value, best, wide);
    Value equal = emitCompare(b, graph::CompareKind::eq, value, best, wide);
    if (isa<FloatType>(wide)) {
      Value isNan = emitUnary(b, graph::UnaryKind::isnan, value, wide);
      Value bestIsNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, best, best);
      better = arith::OrIOp::create(b, better,
                                    arith::AndIOp::create(b, isNan, arith::OrIOp::create(b, bestIsNumber, earlier)));
    }
    Value takes = arith::OrIOp::create(b, better, arith::AndIOp::create(b, equal, earlier));
    takes = arith::OrIOp::create(b, takes, none);
    for (unsigned dim = rank - spatial; loops.leavesOperand && dim < rank; ++dim) {
      // Unsigned: negative coordinates compare as beyond the end.
      Value coordinate = scalars.index(loops.indices[dim]);
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, scalars.size(shape[dim]));
      takes = arith::AndIOp::create(b, inside, takes);
    }
    return {arith::SelectOp::create(b, takes, value, best), arith::SelectOp::create(b, takes, here, place)};
  };
  return builder.create({wide, i32}, {getLowest(wide), rewriter.getI32IntegerAttr(-1)}, body);
}

/// The positions of taps within the trailing dimensions of the operand.
FailureOr<ComputeOp> locateTaps(PatternRewriter &rewriter, graph::WindowArgmaxOp op, const WindowLoops &loops,
                                Value taps) {
  ArrayRef<Expr> shape = graph::getShape(op.getOperand());
  unsigned spatial = loops.taps.size(), rank = shape.size(), leading = rank - spatial;
  Type i64 = rewriter.getI64Type();
  ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
  unsigned taken = builder.read(taps);
  auto body = [&](ComputeBody &scalars) -> Value {
    ImplicitLocOpBuilder &b = scalars.builder;
    Value tap = arith::ExtSIOp::create(b, i64, scalars.input(taken)), index, rest = tap;
    SmallVector<Value> digits(spatial);
    for (unsigned dim = spatial; dim-- > 0;) {
      Value size = emitConstant(b, i64, op.getSizes()[dim]);
      Value outer = dim ? arith::DivSIOp::create(b, rest, size).getResult() : Value();
      digits[dim] = dim ? arith::SubIOp::create(b, rest, arith::MulIOp::create(b, outer, size)).getResult() : rest;
      rest = outer;
    }
    for (unsigned dim = 0; dim < spatial; ++dim) {
      // The beginning of the window, plus the tap's offset.
      Expr begin = builder.loop(leading + dim) * op.getStrides()[dim] - op.getLow()[dim];
      Value distance = arith::MulIOp::create(b, digits[dim], emitConstant(b, i64, op.getDilations()[dim]));
      Value coordinate = arith::AddIOp::create(b, arith::IndexCastOp::create(b, i64, scalars.index(begin)), distance);
      Value extent = arith::IndexCastOp::create(b, i64, scalars.size(shape[leading + dim]));
      index = index ? arith::AddIOp::create(b, arith::MulIOp::create(b, index, extent), coordinate).getResult()
                    : coordinate;
    }
    Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, tap, emitConstant(b, i64, 0));
    return arith::SelectOp::create(b, none, emitConstant(b, i64, -1), index);
  };
  return builder.create(i64, body);
}

/// Whether both operators have the same windows.
bool haveSameWindows(graph::WindowOp op, graph::WindowArgmaxOp other) {
  return op.getSizes() == other.getSizes() && op.getStrides() == other.getStrides() &&
         op.getDilations() == other.getDilations() && op.getLow() == other.getLow() && op.getHigh() == other.getHigh();
}

/// The position of the maximum; padding never is.
struct LowerWindowArgmax : OpRewritePattern<graph::WindowArgmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::WindowArgmaxOp op, PatternRewriter &rewriter) const override {
    WindowLoops loops = getWindowLoops(op);
    FailureOr<ComputeOp> maxima = findMaxima(rewriter, op, loops);
    if (failed(maxima))
      return failure();
    FailureOr<ComputeOp> positions = locateTaps(rewriter, op, loops, maxima->getResult(1));
    if (failed(positions))
      return failure();
    rewriter.replaceOp(op, positions->getResult(0));
    return success();
  }
};

struct LowerWindow : OpRewritePattern<graph::WindowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::WindowOp op, PatternRewriter &rewriter) const override {
    WindowLoops loops = getWindowLoops(op);
    if (graph::WindowArgmaxOp argmax = findArgmax(op))
      return lowerTogether(op, argmax, loops, rewriter);
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

private:
  /// A later argmax over the same windows, such as that for the gradient.
  static graph::WindowArgmaxOp findArgmax(graph::WindowOp op) {
    for (Operation *user : op.getOperand().getUsers())
      if (auto argmax = dyn_cast<graph::WindowArgmaxOp>(user); argmax && op.getKind() == graph::ReduceKind::max &&
                                                               haveSameWindows(op, argmax) &&
                                                               argmax->getBlock() == op->getBlock())
        return argmax;
    return {};
  }

  /// Computes both in one pass over the windows.
  static LogicalResult lowerTogether(graph::WindowOp op, graph::WindowArgmaxOp argmax, const WindowLoops &loops,
                                     PatternRewriter &rewriter) {
    FailureOr<ComputeOp> maxima = findMaxima(rewriter, argmax, loops);
    if (failed(maxima))
      return failure();
    FailureOr<ComputeOp> positions = locateTaps(rewriter, argmax, loops, maxima->getResult(1));
    FailureOr<Value> values =
        castTo(rewriter, op.getLoc(), maxima->getResult(0), graph::getElementType(op.getOperand()));
    if (failed(positions) || failed(values))
      return failure();
    rewriter.replaceAllUsesWith(argmax.getResult(), positions->getResult(0));
    rewriter.replaceOp(op, *values);
    return success();
  }
};

} // namespace

void populateWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerWindow, LowerWindowArgmax>(patterns.getContext());
}

} // namespace freestone::tile
