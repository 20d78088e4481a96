#include "compiler/tile/lowering/Lowering.h"
#include "compiler/tile/lowering/SumOfProducts.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

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
    FailureOr<Value> sums =
        sumProducts(builder, left, right, op.getLhs(), op.getRhs(), op.getResult(), !contracted.empty());
    return replaceByRounded(rewriter, op, sums);
  }
};

} // namespace

void populateContractionPatterns(RewritePatternSet &patterns) { patterns.add<LowerContract>(patterns.getContext()); }

} // namespace freestone::tile
