#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::graph::ScatterKind;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// The element after an update; narrow floats are combined in f32.
Value emitUpdate(ImplicitLocOpBuilder &builder, ScatterKind kind, Value old, Value update, Type element) {
  switch (kind) {
  case ScatterKind::none:
    return update;
  case ScatterKind::add:
    return emitBinary(builder, graph::BinaryKind::add, old, update, element);
  case ScatterKind::mul:
    return emitBinary(builder, graph::BinaryKind::mul, old, update, element);
  case ScatterKind::max:
    return emitBinary(builder, graph::BinaryKind::max, old, update, element);
  case ScatterKind::min:
    return emitBinary(builder, graph::BinaryKind::min, old, update, element);
  }
  llvm_unreachable("every kind has an update");
}

/// A tile is one line of the result along the axis: no update leaves its line.
struct LowerScatterElements : OpRewritePattern<graph::ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterElementsOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), updateShape = graph::getShape(op.getIndices());
    int64_t axis = op.getAxis();
    SmallVector<Expr> lines(shape);
    lines[axis] = Expr::constant(getContext(), 1);
    Expr count = Expr::constant(getContext(), 1);
    for (Expr extent : lines)
      count = count * extent;
    OpaqueBuilder line(rewriter, op.getLoc(), count, {op.getOperand(), op.getIndices(), op.getUpdates()}, type);
    SmallVector<Value> at = line.delinearize(line.tile(), lines);
    Value zero = line.constant(0), length = line.size(shape[axis]);
    line.loop(zero, length, [&](Value i) {
      at[axis] = i;
      Value position = line.linearize(at, shape);
      line.store(0, position, line.load(0, position));
    });
    Value hasUpdates;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
      if (dim == axis || shape[dim] == updateShape[dim])
        continue;
      Value within = line.less(at[dim], line.size(updateShape[dim]));
      hasUpdates = hasUpdates ? arith::AndIOp::create(line.ir(), hasUpdates, within).getResult() : within;
    }
    auto update = [&] {
      line.loop(zero, line.size(updateShape[axis]), [&](Value i) {
        at[axis] = i;
        Value source = line.linearize(at, updateShape);
        DataIndex target = line.dataIndex(line.load(1, source), length);
        line.onlyIf(target.inside, [&] {
          at[axis] = target.position;
          Value position = line.linearize(at, shape);
          line.store(0, position,
                     emitUpdate(line.ir(), op.getKind(), line.loadResult(0, position), line.load(2, source),
                                type.getElementType()));
        });
      });
    };
    line.onlyIf(hasUpdates, update);
    rewriter.replaceOp(op, line.finish());
    return success();
  }
};

/// One tile: updates may meet anywhere, and are applied in order.
struct LowerScatterNd : OpRewritePattern<graph::ScatterNdOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterNdOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), indexShape = graph::getShape(op.getIndices());
    std::optional<int64_t> depth = indexShape.back().asConstant();
    if (!depth)
      return rewriter.notifyMatchFailure(op, "the size of the last dimension of the indices is not known");
    Expr one = Expr::constant(getContext(), 1), slices = one, sliceSize = one;
    for (Expr extent : indexShape.drop_back())
      slices = slices * extent;
    for (Expr extent : shape.drop_front(*depth))
      sliceSize = sliceSize * extent;
    OpaqueBuilder whole(rewriter, op.getLoc(), one, {op.getOperand(), op.getIndices(), op.getUpdates()}, type);
    Value zero = whole.constant(0), size = whole.size(sliceSize);
    whole.loop(zero, whole.size(type.getNumElements()), [&](Value i) { whole.store(0, i, whole.load(0, i)); });
    whole.loop(zero, whole.size(slices), [&](Value slice) {
      Value begin = zero, inside;
      for (int64_t component = 0; component < *depth; ++component) {
        Value extent = whole.size(shape[component]);
        Value source = whole.add(whole.mul(slice, whole.constant(*depth)), whole.constant(component));
        DataIndex target = whole.dataIndex(whole.load(1, source), extent);
        begin = whole.add(whole.mul(begin, extent), target.position);
        inside = inside ? arith::AndIOp::create(whole.ir(), inside, target.inside).getResult() : target.inside;
      }
      auto update = [&] {
        Value first = whole.mul(begin, size), updates = whole.mul(slice, size);
        whole.loop(zero, size, [&](Value i) {
          Value position = whole.add(first, i);
          whole.store(0, position,
                      emitUpdate(whole.ir(), op.getKind(), whole.loadResult(0, position),
                                 whole.load(2, whole.add(updates, i)), type.getElementType()));
        });
      };
      whole.onlyIf(inside, update);
    });
    rewriter.replaceOp(op, whole.finish());
    return success();
  }
};

} // namespace

void populateScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerScatterElements, LowerScatterNd>(patterns.getContext());
}

} // namespace freestone::tile
