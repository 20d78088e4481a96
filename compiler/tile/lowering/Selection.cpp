#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// The row-major positions of the nonzero elements among the first `examined`, as i64 [n]. Two programs: the first
/// counts, and its only result, an i64, is the value of the symbol that its attribute `binds` names, at most `bound`;
/// the second takes this result as an operand, which orders it after the first.
Value createPositions(OpBuilder &rewriter, Location location, Value tensor, Expr examined, Expr n) {
  Type element = graph::getElementType(tensor), i64 = rewriter.getI64Type();
  Expr one = Expr::constant(rewriter.getContext(), 1);
  auto isSelected = [&](OpaqueBuilder &body, Value i) {
    return emitCast(body.ir(), body.load(0, i), element, rewriter.getI1Type());
  };

  OpaqueBuilder counting(rewriter, location, one, tensor, graph::TensorType::get(ArrayRef<Expr>{one}, i64));
  Value zero = counting.constant(0);
  ValueRange total = counting.loop(zero, counting.size(examined), zero, [&](Value i, ValueRange count) {
    Value next = counting.add(count[0], counting.constant(1));
    return SmallVector<Value>{arith::SelectOp::create(counting.ir(), isSelected(counting, i), next, count[0])};
  });
  counting.store(0, zero, counting.toI64(total[0]));
  OpaqueOp count = counting.finish();
  if (std::optional<StringRef> symbol = n.asSymbol()) {
    count->setAttr("binds", rewriter.getStringAttr(*symbol));
    count->setAttr("bound", examined.attr());
  }

  OpaqueBuilder listing(rewriter, location, one, {tensor, count.getResult(0)},
                        graph::TensorType::get(ArrayRef<Expr>{n}, i64));
  zero = listing.constant(0);
  listing.loop(zero, listing.size(examined), zero, [&](Value i, ValueRange written) {
    Value selected = isSelected(listing, i);
    listing.onlyIf(selected, [&] { listing.store(0, written[0], listing.toI64(i)); });
    Value next = listing.add(written[0], listing.constant(1));
    return SmallVector<Value>{arith::SelectOp::create(listing.ir(), selected, next, written[0])};
  });
  return listing.finish().getResult(0);
}

struct LowerNonZero : OpRewritePattern<graph::NonZeroOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::NonZeroOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    Value positions = createPositions(rewriter, op.getLoc(), op.getOperand(), type.getNumElements(), shape[1]);
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    unsigned position = builder.read(positions, {builder.loop(1)});
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      ImplicitLocOpBuilder &b = body.builder;
      Value rest = arith::IndexCastOp::create(b, b.getIndexType(), body.input(position));
      Value result = body.size(Expr::constant(getContext(), 0)), one = arith::ConstantIndexOp::create(b, 1);
      for (int64_t dim = type.getRank(); dim > 0; --dim) {
        // A dimension of size 0 has no elements to select.
        Value extent = arith::MaxSIOp::create(b, body.size(type.getDim(dim - 1)), one);
        Value coordinate = arith::RemUIOp::create(b, rest, extent);
        rest = arith::DivUIOp::create(b, rest, extent);
        Value isDim = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.loop(0),
                                            arith::ConstantIndexOp::create(b, dim - 1));
        result = arith::SelectOp::create(b, isDim, coordinate, result);
      }
      return arith::IndexCastOp::create(b, b.getI64Type(), result).getResult();
    });
  }
};

struct LowerCompress : OpRewritePattern<graph::CompressOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::CompressOp op, PatternRewriter &rewriter) const override {
    unsigned axis = op.getAxis();
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    Expr extent = graph::getShape(op.getOperand())[axis], length = graph::getShape(op.getCondition())[0];
    Value positions = createPositions(rewriter, op.getLoc(), op.getCondition(), Expr::min(extent, length), shape[axis]);
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    unsigned position = builder.read(positions, {builder.loop(axis)}), table = builder.table(op.getOperand());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      SmallVector<Value> indices;
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        indices.push_back(body.loop(dim));
      indices[axis] = arith::IndexCastOp::create(body.builder, body.builder.getIndexType(), body.input(position));
      return body.readTable(table, indices);
    });
  }
};

} // namespace

void populateSelectionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerNonZero, LowerCompress>(patterns.getContext());
}

} // namespace freestone::tile
