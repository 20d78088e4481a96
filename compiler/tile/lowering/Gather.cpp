#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// An index of data as a position within `extent`: counted from the end where negative, checked, and clamped so that
/// what follows reads inside whatever the data are.
Value emitPosition(ComputeBody &body, Value index, Expr extent) {
  ImplicitLocOpBuilder &b = body.builder;
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value size = body.size(extent);
  Value given = arith::IndexCastOp::create(b, b.getIndexType(), index);
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, given, zero);
  Value position = arith::SelectOp::create(b, negative, arith::AddIOp::create(b, given, size), given);
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position, size);
  CheckOp::create(b, inside, "an index is outside of its axis");
  Value last = arith::SubIOp::create(b, size, one);
  return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, position, last), zero);
}

struct LowerGather : OpRewritePattern<graph::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::GatherOp op, PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis(), batch = op.getBatchDims(), rank = graph::getShape(op.getOperand()).size();
    int64_t inserted = graph::getShape(op.getIndices()).size() - batch;
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    SmallVector<Expr> indexAt;
    for (int64_t dim = 0; dim < batch; ++dim)
      indexAt.push_back(builder.loop(dim));
    for (int64_t dim = 0; dim < inserted; ++dim)
      indexAt.push_back(builder.loop(axis + dim));
    unsigned index = builder.read(op.getIndices(), indexAt), table = builder.table(op.getOperand());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      SmallVector<Value> position;
      for (int64_t dim = 0; dim < rank; ++dim) {
        if (dim == axis)
          position.push_back(emitPosition(body, body.input(index), graph::getShape(op.getOperand())[axis]));
        else
          position.push_back(body.loop(dim < axis ? dim : dim + inserted - 1));
      }
      return body.readTable(table, position);
    });
  }
};

struct LowerGatherElements : OpRewritePattern<graph::GatherElementsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::GatherElementsOp op, PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis(), rank = graph::getShape(op.getOperand()).size();
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    unsigned index = builder.read(op.getIndices()), table = builder.table(op.getOperand());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      SmallVector<Value> position;
      for (int64_t dim = 0; dim < rank; ++dim)
        position.push_back(dim == axis ? emitPosition(body, body.input(index), graph::getShape(op.getOperand())[axis])
                                       : body.loop(dim));
      return body.readTable(table, position);
    });
  }
};

struct LowerGatherNd : OpRewritePattern<graph::GatherNdOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::GatherNdOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getOperand()), indexShape = graph::getShape(op.getIndices());
    std::optional<int64_t> depth = indexShape.back().asConstant();
    if (!depth)
      return rewriter.notifyMatchFailure(op, "the size of the last dimension of the indices is not known");
    int64_t batch = op.getBatchDims(), leading = indexShape.size() - 1;
    ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
    SmallVector<unsigned> numbers;
    for (int64_t component = 0; component < *depth; ++component) {
      SmallVector<Expr> indexAt = builder.parallelLoops();
      indexAt.truncate(leading);
      indexAt.push_back(builder.constant(component));
      numbers.push_back(builder.read(op.getIndices(), indexAt));
    }
    unsigned table = builder.table(op.getOperand());
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
      SmallVector<Value> position;
      for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
        if (dim < batch)
          position.push_back(body.loop(dim));
        else if (dim < batch + *depth)
          position.push_back(emitPosition(body, body.input(numbers[dim - batch]), shape[dim]));
        else
          position.push_back(body.loop(leading + dim - batch - *depth));
      }
      return body.readTable(table, position);
    });
  }
};

} // namespace

void populateGatherPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerGatherElements, LowerGatherNd>(patterns.getContext());
}

} // namespace freestone::tile
