#include "compiler/tile/lowering/Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace freestone::tile {

namespace {

/// Reads all operands at the loops; `Emit` combines their scalars.
template <typename Op>
LogicalResult lowerElementwise(Op op, PatternRewriter &rewriter,
                               llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> emit) {
  ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
  SmallVector<unsigned> numbers;
  for (Value operand : op->getOperands())
    numbers.push_back(builder.read(operand));
  return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
    return emit(body.builder, llvm::map_to_vector(numbers, [&](unsigned number) { return body.input(number); }));
  });
}

struct LowerUnary : OpRewritePattern<graph::UnaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::UnaryOp op, PatternRewriter &rewriter) const override {
    Type element = graph::getElementType(op.getOperand());
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) {
      Value result = emitUnary(builder, op.getKind(), operands[0], element);
      if (auto exponential = result.getDefiningOp<math::ExpOp>(); exponential && op->hasAttr("graph.share"))
        exponential.setFastmath(arith::FastMathFlags::afn);
      return result;
    });
  }
};

struct LowerBinary : OpRewritePattern<graph::BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::BinaryOp op, PatternRewriter &rewriter) const override {
    Type element = graph::getElementType(op.getLhs());
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) {
      return emitBinary(builder, op.getKind(), operands[0], operands[1], element);
    });
  }
};

struct LowerCompare : OpRewritePattern<graph::CompareOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CompareOp op, PatternRewriter &rewriter) const override {
    Type element = graph::getElementType(op.getLhs());
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) {
      return emitCompare(builder, op.getKind(), operands[0], operands[1], element);
    });
  }
};

struct LowerSelect : OpRewritePattern<graph::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::SelectOp op, PatternRewriter &rewriter) const override {
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) -> Value {
      return arith::SelectOp::create(builder, operands[0], operands[1], operands[2]);
    });
  }
};

struct LowerCast : OpRewritePattern<graph::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CastOp op, PatternRewriter &rewriter) const override {
    Type from = graph::getElementType(op.getOperand()), to = op.getElementType();
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) {
      if (graph::isStorageOnly(to))
        return emitStoredCast(builder, operands[0], from, to, {op.getSaturate(), op.getRound()});
      return op.getSaturate() ? emitSaturatingCast(builder, operands[0], from, to)
                              : emitCast(builder, operands[0], from, to);
    });
  }
};

struct LowerBitcast : OpRewritePattern<graph::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::BitcastOp op, PatternRewriter &rewriter) const override {
    Type from = graph::getElementType(op.getOperand()), to = op.getElementType();
    return lowerElementwise(op, rewriter, [&](ImplicitLocOpBuilder &builder, ValueRange operands) {
      return emitBitcast(builder, operands[0], from, to);
    });
  }
};

} // namespace

FailureOr<Value> castTo(OpBuilder &rewriter, Location location, Value tensor, Type element) {
  Type from = graph::getElementType(tensor);
  if (from == element)
    return tensor;
  ComputeBuilder builder(rewriter, location, graph::getShape(tensor));
  unsigned operand = builder.read(tensor);
  FailureOr<ComputeOp> compute = builder.create(
      element, [&](ComputeBody &body) { return emitCast(body.builder, body.input(operand), from, element); });
  if (failed(compute))
    return failure();
  return compute->getResult(0);
}

void populateElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerUnary, LowerBinary, LowerCompare, LowerSelect, LowerCast, LowerBitcast>(patterns.getContext());
}

} // namespace freestone::tile
