#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

LogicalResult replaceByCopy(PatternRewriter &rewriter, Operation *op, ComputeBuilder &builder, unsigned operand) {
  return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) { return body.input(operand); });
}

struct LowerBroadcast : OpRewritePattern<graph::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::BroadcastOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    SmallVector<Expr> indices;
    for (auto [dim, extent] : llvm::zip_equal(op.getDims(), graph::getShape(op.getOperand())))
      indices.push_back(extent.isConstant(1) ? builder.constant(0) : builder.loop(dim));
    return replaceByCopy(rewriter, op, builder, builder.read(op.getOperand(), indices));
  }
};

struct LowerTranspose : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    SmallVector<Expr> indices(op.getPermutation().size());
    for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
      indices[source] = builder.loop(dim);
    return replaceByCopy(rewriter, op, builder, builder.read(op.getOperand(), indices));
  }
};

struct LowerSlice : OpRewritePattern<graph::SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SliceOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    SmallVector<Expr> indices;
    for (auto [dim, start, step] : llvm::enumerate(op.getStarts(), op.getSteps()))
      indices.push_back(builder.loop(dim) * step + start);
    return replaceByCopy(rewriter, op, builder, builder.read(op.getOperand(), indices));
  }
};

/// The same elements by other names of sizes: those that a result of a branch has in one of its sides.
struct LowerMatchShape : OpRewritePattern<graph::MatchShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::MatchShapeOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    return replaceByCopy(rewriter, op, builder, builder.read(op.getOperand()));
  }
};

/// Whether a coordinate, shifted by `low`, falls on an element rather than into the padding between two.
Value emitIsOnElement(ComputeBody &body, Expr shifted, int64_t spacing) {
  ImplicitLocOpBuilder &b = body.builder;
  Value remainder = arith::RemSIOp::create(b, body.index(shifted), arith::ConstantIndexOp::create(b, spacing));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, remainder, arith::ConstantIndexOp::create(b, 0));
}

struct LowerPad : OpRewritePattern<graph::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::PadOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    Type element = graph::getElementType(op.getOperand());
    TypedAttr constant = getSplat(op.getValue());
    SmallVector<Expr> indices, shifts;
    for (auto [dim, low, interior] : llvm::enumerate(op.getLow(), op.getInterior())) {
      shifts.push_back(builder.loop(dim) - low);
      indices.push_back(Expr::floorDiv(shifts.back(), interior + 1));
    }
    unsigned operand = builder.read(op.getOperand(), indices, constant ? constant : getScalarAttr(element, 0));
    unsigned value = builder.read(op.getValue(), ArrayRef<Expr>());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      ImplicitLocOpBuilder &b = body.builder;
      Value inside;
      auto require = [&](Value condition) {
        inside = inside ? arith::AndIOp::create(b, inside, condition).getResult() : condition;
      };
      for (auto [dim, shift, interior] : llvm::enumerate(shifts, op.getInterior())) {
        if (interior)
          require(emitIsOnElement(body, shift, interior + 1));
        if (constant)
          continue;
        // The fill is known only at run time, so the body checks bounds itself.
        Value index = body.index(shift);
        Expr end = (graph::getShape(op.getOperand())[dim] - 1) * (interior + 1) + 1;
        Value zero = arith::ConstantIndexOp::create(b, 0);
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index, zero));
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, body.size(end)));
      }
      if (!inside)
        return body.input(operand);
      return arith::SelectOp::create(b, inside, body.input(operand), body.input(value)).getResult();
    });
  }
};

/// Every operand is read at its offset; out of bounds the fill is read and not selected.
struct LowerConcat : OpRewritePattern<graph::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConcatOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    unsigned axis = op.getAxis();
    TypedAttr fill = getScalarAttr(graph::getElementType(op.getResult()), 0);
    SmallVector<unsigned> numbers;
    SmallVector<Expr> ends;
    Expr begin = builder.constant(0);
    for (Value operand : op.getOperands()) {
      SmallVector<Expr> indices = builder.parallelLoops();
      indices[axis] = indices[axis] - begin;
      numbers.push_back(builder.read(operand, indices, op.getOperands().size() > 1 ? fill : TypedAttr()));
      begin = begin + graph::getShape(operand)[axis];
      ends.push_back(begin);
    }
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      ImplicitLocOpBuilder &b = body.builder;
      Value result = body.input(numbers.back());
      for (size_t i = numbers.size() - 1; i > 0; --i) {
        Value before = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, body.loop(axis), body.size(ends[i - 1]));
        result = arith::SelectOp::create(b, before, body.input(numbers[i - 1]), result);
      }
      return result;
    });
  }
};

} // namespace

void populateMovementPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBroadcast, LowerTranspose, LowerSlice, LowerMatchShape, LowerPad, LowerConcat>(
      patterns.getContext());
}

} // namespace freestone::tile
