// Elements of 2 or 4 bits between bytes of their own and packed bytes.
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// The place of a packed element within its byte, in bits.
Value emitShift(ComputeBody &body, Expr index, int64_t perByte) {
  ImplicitLocOpBuilder &b = body.builder;
  Value place = arith::RemUIOp::create(b, body.index(index), arith::ConstantIndexOp::create(b, perByte));
  return arith::IndexCastOp::create(b, b.getI32Type(),
                                    arith::MulIOp::create(b, place, arith::ConstantIndexOp::create(b, 8 / perByte)));
}

/// In rows where these begin with a byte, else as one row.
struct LowerUnpack : OpRewritePattern<graph::UnpackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::UnpackOp op, PatternRewriter &rewriter) const override {
    graph::TensorType type = op.getType();
    Type element = type.getElementType(), byte = rewriter.getIntegerType(8, /*isSigned=*/false);
    int64_t perByte = graph::PackedAttr::getElementsPerByte(element);
    SmallVector<Expr> shape(type.getShape()), stored;
    bool hasWholeRows = !shape.empty() && Expr::mod(shape.back(), perByte).isConstant(0);
    if (hasWholeRows) {
      stored = shape;
      stored.back() = Expr::floorDiv(stored.back(), perByte);
    } else {
      if (shape = {type.getNumElements()}; shape[0].isInvalid())
        return rewriter.notifyMatchFailure(op, "its number of elements is too large an expression");
      stored = {Expr::ceilDiv(shape[0], perByte)};
    }
    Value bytes = ViewOp::create(rewriter, op.getLoc(), graph::TensorType::get(stored, byte), op.getOperand());
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    SmallVector<Expr> indices = builder.parallelLoops();
    Expr along = indices.back();
    indices.back() = Expr::floorDiv(along, perByte);
    unsigned operand = builder.read(bytes, indices);
    FailureOr<ComputeOp> compute = builder.create(element, [&](ComputeBody &body) -> Value {
      ImplicitLocOpBuilder &b = body.builder;
      Value wide = arith::ExtUIOp::create(b, b.getI32Type(), body.input(operand));
      Value shifted = arith::ShRUIOp::create(b, wide, emitShift(body, along, perByte));
      int64_t width = element.getIntOrFloatBitWidth();
      Value low = arith::AndIOp::create(b, shifted, emitConstant(b, b.getI32Type(), (1 << width) - 1));
      return emitBitcast(b, arith::TruncIOp::create(b, b.getI8Type(), low), b.getIntegerType(width, /*isSigned=*/false),
                         element);
    });
    if (failed(compute))
      return rewriter.notifyMatchFailure(op, "an index is no affine function of the loops");
    Value result = compute->getResult(0);
    if (!hasWholeRows)
      result = graph::ReshapeOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerPack : OpRewritePattern<graph::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::PackOp op, PatternRewriter &rewriter) const override {
    graph::TensorType type = op.getType();
    Type element = type.getElementType(), byte = rewriter.getIntegerType(8, /*isSigned=*/false);
    int64_t perByte = graph::PackedAttr::getElementsPerByte(element), width = element.getIntOrFloatBitWidth();
    Expr count = type.getNumElements();
    if (count.isInvalid())
      return rewriter.notifyMatchFailure(op, "its number of elements is too large an expression");
    Value flat = op.getOperand();
    if (type.getRank() != 1)
      flat = graph::ReshapeOp::create(rewriter, op.getLoc(), graph::TensorType::get({count}, element), flat);
    ComputeBuilder builder(rewriter, op.getLoc(), {Expr::ceilDiv(count, perByte)});
    SmallVector<unsigned> operands;
    for (int64_t place = 0; place < perByte; ++place)
      operands.push_back(builder.read(flat, {builder.loop(0) * perByte + place}, getScalarAttr(element, 0)));
    FailureOr<ComputeOp> compute = builder.create(byte, [&](ComputeBody &body) {
      ImplicitLocOpBuilder &b = body.builder;
      auto constant = [&](int64_t value) { return emitConstant(b, b.getI8Type(), value); };
      Value all;
      for (auto [place, operand] : llvm::enumerate(operands)) {
        Value bits = arith::AndIOp::create(b, body.input(operand), constant((1 << width) - 1));
        Value shifted = arith::ShLIOp::create(b, bits, constant(place * width));
        all = all ? arith::OrIOp::create(b, all, shifted).getResult() : shifted;
      }
      return all;
    });
    if (failed(compute))
      return rewriter.notifyMatchFailure(op, "an index is no affine function of the loops");
    rewriter.replaceOpWithNewOp<ViewOp>(op, type, compute->getResult(0));
    return success();
  }
};

} // namespace

void populateSubBytePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerUnpack, LowerPack>(patterns.getContext());
}

} // namespace freestone::tile
