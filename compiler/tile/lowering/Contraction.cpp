#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// Rounds what the compute gives to the result's type in a compute of its own, and gives it the result's shape.
LogicalResult replaceBy(PatternRewriter &rewriter, Operation *op, FailureOr<ComputeOp> compute) {
  if (failed(compute))
    return rewriter.notifyMatchFailure(op, "an index is no affine function of the loops");
  Value whole = op->getResult(0);
  FailureOr<Value> result = castTo(rewriter, op->getLoc(), compute->getResult(0), graph::getElementType(whole));
  if (failed(result))
    return failure();
  if (graph::getShape(*result) != graph::getShape(whole))
    result = graph::ReshapeOp::create(rewriter, op->getLoc(), *result, graph::getShape(whole)).getResult();
  rewriter.replaceOp(op, *result);
  return success();
}

/// Makes the compute with an accumulator that begins at 0.
LogicalResult replaceBySum(PatternRewriter &rewriter, Operation *op, ComputeBuilder &builder, Type wide,
                           ComputeBuilder::BodyFunction body) {
  return replaceBy(rewriter, op, builder.create(wide, {getScalarAttr(wide, 0)}, body));
}

/// acc + a * b in the accumulator's type; a * b where nothing is summed.
LogicalResult replaceBySumOfProducts(PatternRewriter &rewriter, Operation *op, ComputeBuilder &builder, unsigned lhs,
                                     unsigned rhs, Type lhsElement, Type rhsElement, bool isSummed = true) {
  Type wide = getAccumulatorType(graph::getElementType(op->getResult(0)));
  auto product = [&](ComputeBody &body) -> Value {
    Value a = emitCast(body.builder, body.input(lhs), lhsElement, wide);
    Value b = emitCast(body.builder, body.input(rhs), rhsElement, wide);
    return emitBinary(body.builder, graph::BinaryKind::mul, a, b, wide);
  };
  if (!isSummed)
    return replaceBy(rewriter, op, builder.create(wide, product));
  return replaceBySum(rewriter, op, builder, wide, [&](ComputeBody &body) -> SmallVector<Value> {
    return {emitBinary(body.builder, graph::BinaryKind::add, body.accumulator(0), product(body), wide)};
  });
}

struct LowerContract : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> lhsShape = graph::getShape(op.getLhs()), shape = graph::getShape(op.getResult());
    SmallVector<Expr> contracted;
    for (int64_t dim : op.getLhsContract())
      contracted.push_back(lhsShape[dim]);
    ComputeBuilder builder(rewriter, op.getLoc(), shape, contracted);
    unsigned loop = 0;
    SmallVector<Expr> lhs(lhsShape.size()), rhs(graph::getShape(op.getRhs()).size());
    for (auto [a, b] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
      lhs[a] = rhs[b] = builder.loop(loop++);
    for (int64_t dim : op.getLhsFree())
      lhs[dim] = builder.loop(loop++);
    for (int64_t dim : op.getRhsFree())
      rhs[dim] = builder.loop(loop++);
    for (auto [a, b] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
      lhs[a] = rhs[b] = builder.loop(loop++);
    unsigned left = builder.read(op.getLhs(), lhs), right = builder.read(op.getRhs(), rhs);
    return replaceBySumOfProducts(rewriter, op, builder, left, right, graph::getElementType(op.getLhs()),
                                  graph::getElementType(op.getRhs()), !contracted.empty());
  }
};

/// Groups are a loop of their own, so that every index stays linear; the result's channels are put together again by a
/// reshape.
struct LowerConvolve : OpRewritePattern<graph::ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvolveOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getResult()), kernelShape = graph::getShape(op.getKernel());
    int64_t groups = op.getGroups(), spatial = op.getStrides().size();
    std::optional<Expr> channelsPerGroup = shape[1].exactDiv(Expr::constant(getContext(), groups));
    if (!channelsPerGroup)
      return rewriter.notifyMatchFailure(op, "the number of channels is no multiple of the groups");
    bool isGrouped = groups > 1;
    SmallVector<Expr> parallel = {shape[0]};
    if (isGrouped)
      parallel.push_back(Expr::constant(getContext(), groups));
    parallel.push_back(*channelsPerGroup);
    llvm::append_range(parallel, shape.drop_front(2));
    ComputeBuilder builder(rewriter, op.getLoc(), parallel, kernelShape.drop_front(1));

    unsigned channel = isGrouped ? 2 : 1, firstSpatial = channel + 1, firstReduced = parallel.size();
    Expr inChannel = builder.loop(firstReduced), outChannel = builder.loop(channel);
    if (isGrouped) {
      inChannel = inChannel + builder.loop(1) * kernelShape[1];
      outChannel = outChannel + builder.loop(1) * *channelsPerGroup;
    }
    SmallVector<Expr> operandAt = {builder.loop(0), inChannel}, kernelAt = {outChannel, builder.loop(firstReduced)};
    SmallVector<std::pair<Expr, int64_t>> dilated;
    bool needsFill = false;
    for (int64_t dim = 0; dim < spatial; ++dim) {
      Expr tap = builder.loop(firstReduced + 1 + dim);
      Expr place =
          builder.loop(firstSpatial + dim) * op.getStrides()[dim] + tap * op.getDilations()[dim] - op.getLow()[dim];
      needsFill |= !op.getLow()[dim].isConstant(0) || !op.getHigh()[dim].isConstant(0);
      int64_t dilation = op.getOperandDilation()[dim];
      if (dilation > 1)
        dilated.push_back({place, dilation});
      operandAt.push_back(Expr::floorDiv(place, dilation));
      kernelAt.push_back(tap);
    }
    Type operandElement = graph::getElementType(op.getOperand()), kernelElement = graph::getElementType(op.getKernel());
    TypedAttr fill = needsFill || !dilated.empty() ? getScalarAttr(operandElement, 0) : TypedAttr();
    unsigned operand = builder.read(op.getOperand(), operandAt, fill), kernel = builder.read(op.getKernel(), kernelAt);
    if (dilated.empty())
      return replaceBySumOfProducts(rewriter, op, builder, operand, kernel, operandElement, kernelElement);
    return lowerDilated(op, rewriter, builder, operand, kernel, dilated);
  }

private:
  /// Between the operand's elements stand zeros: taps that fall there add nothing.
  static LogicalResult lowerDilated(graph::ConvolveOp op, PatternRewriter &rewriter, ComputeBuilder &builder,
                                    unsigned operand, unsigned kernel, ArrayRef<std::pair<Expr, int64_t>> dilated) {
    Type wide = getAccumulatorType(graph::getElementType(op.getResult()));
    auto body = [&](ComputeBody &scalars) -> SmallVector<Value> {
      ImplicitLocOpBuilder &b = scalars.builder;
      Value onElement;
      for (auto [place, dilation] : dilated) {
        Value rest = arith::RemSIOp::create(b, scalars.index(place), arith::ConstantIndexOp::create(b, dilation));
        Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, arith::ConstantIndexOp::create(b, 0));
        onElement = onElement ? arith::AndIOp::create(b, onElement, isZero).getResult() : isZero;
      }
      Value value = emitCast(b, scalars.input(operand), graph::getElementType(op.getOperand()), wide);
      Value weight = emitCast(b, scalars.input(kernel), graph::getElementType(op.getKernel()), wide);
      Value product = emitBinary(b, graph::BinaryKind::mul, value, weight, wide);
      Value term = arith::SelectOp::create(b, onElement, product, emitConstant(b, wide, 0));
      return {emitBinary(b, graph::BinaryKind::add, scalars.accumulator(0), term, wide)};
    };
    return replaceBySum(rewriter, op, builder, wide, body);
  }
};

} // namespace

void populateContractionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerContract, LowerConvolve>(patterns.getContext());
}

} // namespace freestone::tile
