#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

struct LowerIota : OpRewritePattern<graph::IotaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::IotaOp op, PatternRewriter &rewriter) const override {
    Type element = graph::getElementType(op.getResult());
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      Value position = arith::IndexCastOp::create(body.builder, rewriter.getI64Type(), body.loop(op.getDim()));
      return emitCast(body.builder, position, rewriter.getI64Type(), element);
    });
  }
};

/// The element of a short list at a position, by comparing the position with every index.
Value emitLookup(ComputeBody &body, Value position, ArrayRef<Value> elements) {
  ImplicitLocOpBuilder &b = body.builder;
  Value result = elements.back();
  for (size_t i = elements.size() - 1; i > 0; --i) {
    Value isHere =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, position, arith::ConstantIndexOp::create(b, i - 1));
    result = arith::SelectOp::create(b, isHere, elements[i - 1], result);
  }
  return result;
}

struct LowerSizes : OpRewritePattern<graph::SizesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SizesOp op, PatternRewriter &rewriter) const override {
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) -> Value {
      SmallVector<Value> elements;
      for (Expr size : op.getSizes())
        elements.push_back(arith::IndexCastOp::create(body.builder, rewriter.getI64Type(), body.size(size)));
      if (elements.empty())
        return emitConstant(body.builder, rewriter.getI64Type(), 0);
      return op.getScalar() ? elements.front() : emitLookup(body, body.loop(0), elements);
    });
  }
};

/// Both sizes, which the phase that computes them compares.
struct LowerAssertSizes : OpRewritePattern<graph::AssertSizesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::AssertSizesOp op, PatternRewriter &rewriter) const override {
    Expr one = Expr::constant(getContext(), 1);
    auto pair = graph::TensorType::get(ArrayRef<Expr>{one * 2}, rewriter.getI64Type());
    OpaqueBuilder body(rewriter, op.getLoc(), one, {}, pair);
    body.store(0, body.constant(0), body.toI64(body.size(op.getActual().getExpr())));
    body.store(0, body.constant(1), body.toI64(body.size(op.getExpected().getExpr())));
    body.finish()->setAttr(assertsAttr, rewriter.getArrayAttr({op.getActual(), op.getExpected(), op.getTextAttr()}));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateSourcePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerIota, LowerSizes, LowerAssertSizes>(patterns.getContext());
}

} // namespace freestone::tile
