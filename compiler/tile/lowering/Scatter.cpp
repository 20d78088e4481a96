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

/// The result of a scatter before its updates: a copied tensor, or a splat without a tensor.
class Initial {
public:
  explicit Initial(Value operand) : operand(operand), splat(getSplat(operand)) {}

  /// The operands of a scatter, in this order.
  enum Input : unsigned { indices, updates, copied };
  template <typename ScatterOp> SmallVector<Value> getInputs(ScatterOp op) const {
    SmallVector<Value> inputs = {op.getIndices(), op.getUpdates()};
    if (!splat)
      inputs.push_back(operand);
    return inputs;
  }

  void write(OpaqueBuilder &tile, Value from, Value to) const {
    Value everywhere = splat ? arith::ConstantOp::create(tile.ir(), splat).getResult() : Value();
    tile.loopInVectors(from, to, [&](Value i) { tile.store(0, i, everywhere ? everywhere : tile.load(copied, i)); });
  }

private:
  Value operand;
  TypedAttr splat;
};

/// Updates stay within their line along the axis. A tile is such a line; unless the axis is the last, it is a block of
/// neighbouring lines, whose elements at one index of the axis are contiguous.
struct LowerScatterElements : OpRewritePattern<graph::ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterElementsOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t blockLines = 64;
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), updateShape = graph::getShape(op.getIndices());
    int64_t axis = op.getAxis(), last = shape.size() - 1;
    bool hasBlocks = axis != last;
    SmallVector<Expr> blocks(shape);
    if (hasBlocks)
      blocks[last] = Expr::ceilDiv(shape[last], blockLines);
    blocks[axis] = Expr::constant(getContext(), 1);
    Expr count = blocks[axis];
    for (Expr extent : blocks)
      count = count * extent;

    Initial initial(op.getOperand());
    OpaqueBuilder tile(rewriter, op.getLoc(), count, initial.getInputs(op), type);
    SmallVector<Value> at = tile.delinearize(tile.tile(), blocks);
    Value zero = tile.constant(0), length = tile.size(shape[axis]);
    Value begin = hasBlocks ? tile.mul(at[last], tile.constant(blockLines)) : zero;
    Value end = hasBlocks ? tile.min(tile.add(begin, tile.constant(blockLines)), tile.size(shape[last])) : length;
    auto forEach = [&](int64_t dim, Value from, Value to, llvm::function_ref<void()> body) {
      tile.loop(from, to, [&](Value i) {
        at[dim] = i;
        body();
      });
    };

    auto writeRow = [&] {
      at[last] = zero;
      Value row = tile.linearize(at, shape);
      initial.write(tile, tile.add(row, begin), tile.add(row, end));
    };
    if (hasBlocks)
      forEach(axis, zero, length, writeRow);
    else
      writeRow();

    Value hasUpdates;
    for (int64_t dim = 0; dim < last; ++dim) {
      if (dim == axis || shape[dim] == updateShape[dim])
        continue;
      Value within = tile.less(at[dim], tile.size(updateShape[dim]));
      hasUpdates = hasUpdates ? arith::AndIOp::create(tile.ir(), hasUpdates, within).getResult() : within;
    }
    auto update = [&] {
      Value source = tile.linearize(at, updateShape);
      DataIndex target = tile.dataIndex(tile.load(Initial::indices, source), length);
      tile.onlyIf(target.inside, [&] {
        SmallVector<Value> there(at);
        there[axis] = target.position;
        Value position = tile.linearize(there, shape);
        tile.store(0, position,
                   emitUpdate(tile.ir(), op.getKind(), tile.loadResult(0, position),
                              tile.load(Initial::updates, source), type.getElementType()));
      });
    };
    auto updateRow = [&] {
      if (hasBlocks)
        forEach(last, begin, tile.min(end, tile.size(updateShape[last])), update);
      else
        update();
    };
    tile.onlyIf(hasUpdates, [&] { forEach(axis, zero, tile.size(updateShape[axis]), updateRow); });
    rewriter.replaceOp(op, tile.finish());
    return success();
  }
};

/// Every tile reads all index vectors, at about the cost of updating a few vectors: many short updates make few tiles.
Expr chooseTiles(Expr vectors, Expr updates, Expr elements) {
  constexpr int64_t mostTiles = 32, leastElements = 4096, elementsPerVector = 64;
  auto constant = [&](int64_t value) { return Expr::constant(vectors.context(), value); };
  Expr least = Expr::max(constant(leastElements), vectors * elementsPerVector);
  return Expr::min(constant(mostTiles - 1), Expr::floorDiv(elements + updates, least)) + 1;
}

/// A tile is a range of the result's elements: of all updates, in their order, it applies those within the range.
/// Updates may thus overlap anywhere, and no tile waits for another.
struct LowerScatterNd : OpRewritePattern<graph::ScatterNdOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterNdOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), indexShape = graph::getShape(op.getIndices());
    std::optional<int64_t> depth = indexShape.back().asConstant();
    if (!depth)
      return rewriter.notifyMatchFailure(op, "the size of the last dimension of the indices is not known");
    Expr one = Expr::constant(getContext(), 1), vectors = one, sliceSize = one, elements = type.getNumElements();
    for (Expr extent : indexShape.drop_back())
      vectors = vectors * extent;
    for (Expr extent : shape.drop_front(*depth))
      sliceSize = sliceSize * extent;
    Expr tiles = chooseTiles(vectors, vectors * sliceSize, elements);

    Initial initial(op.getOperand());
    OpaqueBuilder run(rewriter, op.getLoc(), tiles, initial.getInputs(op), type);
    // Ranges are aligned to cache lines.
    constexpr int64_t granule = 64;
    Value length = run.size(Expr::ceilDiv(elements, tiles * granule) * granule);
    Value begin = run.mul(run.tile(), length), end = run.min(run.add(begin, length), run.size(elements));
    initial.write(run, begin, end);

    Value zero = run.constant(0), size = run.size(sliceSize);
    run.loop(zero, run.size(vectors), [&](Value vector) {
      Value slice = zero, inside;
      for (int64_t component = 0; component < *depth; ++component) {
        Value extent = run.size(shape[component]);
        Value source = run.add(run.mul(vector, run.constant(*depth)), run.constant(component));
        DataIndex target = run.dataIndex(run.load(Initial::indices, source), extent);
        slice = run.add(run.mul(slice, extent), target.position);
        inside = inside ? arith::AndIOp::create(run.ir(), inside, target.inside).getResult() : target.inside;
      }
      run.onlyIf(inside, [&] {
        Value first = run.mul(slice, size), toUpdates = run.sub(run.mul(vector, size), first);
        run.loopInVectors(run.max(first, begin), run.min(run.add(first, size), end), [&](Value i) {
          run.store(0, i,
                    emitUpdate(run.ir(), op.getKind(), run.loadResult(0, i),
                               run.load(Initial::updates, run.add(toUpdates, i)), type.getElementType()));
        });
      });
    });
    rewriter.replaceOp(op, run.finish());
    return success();
  }
};

} // namespace

void populateScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerScatterElements, LowerScatterNd>(patterns.getContext());
}

} // namespace freestone::tile
