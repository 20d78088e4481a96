#include "compiler/tile/DataIndex.h"
#include "compiler/tile/lowering/IndexPieces.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// The position that `tile.read` takes, for a data-dependent index along an axis of this size.
Value emitPosition(ComputeBody &body, Value index, Expr extent) {
  return emitDataIndex(body.builder, index, body.size(extent)).position;
}

/// A gather whose indices are constant, in few pieces: positions are computed rather than loaded, and nothing need be
/// checked.
LogicalResult lowerInPieces(graph::GatherOp op, ArrayRef<IndexPiece> pieces, PatternRewriter &rewriter) {
  unsigned axis = op.getAxis();
  ComputeBuilder builder(rewriter, op.getLoc(), graph::getShape(op.getResult()));
  if (pieces.size() == 1) {
    SmallVector<Expr> indices = builder.parallelLoops();
    indices[axis] = pieces.front().getIndex(indices[axis]);
    unsigned operand = builder.read(op.getOperand(), indices);
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) { return body.input(operand); });
  }
  unsigned table = builder.table(op.getOperand());
  return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) {
    SmallVector<Value> position;
    for (unsigned dim = 0; dim < graph::getShape(op.getOperand()).size(); ++dim)
      position.push_back(body.loop(dim));
    position[axis] = emitIndex(body, axis, pieces);
    return body.readTable(table, position);
  });
}

struct LowerGather : OpRewritePattern<graph::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::GatherOp op, PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis(), batch = op.getBatchDims(), rank = graph::getShape(op.getOperand()).size();
    int64_t inserted = graph::getShape(op.getIndices()).size() - batch;
    if (std::optional<SmallVector<IndexPiece>> pieces = getIndexPieces(op))
      return lowerInPieces(op, *pieces, rewriter);
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
