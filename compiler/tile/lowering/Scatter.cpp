#include "compiler/tile/Aliases.h"
#include "compiler/tile/OpaqueBuilder.h"
#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::graph::ScatterKind;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// The element after an update; narrow floats are combined in f32.
Value emitCombined(ImplicitLocOpBuilder &builder, ScatterKind kind, Value old, Value update, Type element) {
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

/// A scatter updates its operand, the first of its inputs, which it writes as its result.
enum Input : unsigned { operand, indices, updates, numInputs };

template <typename ScatterOp> std::array<Value, numInputs> getInputs(ScatterOp op) {
  return {op.getOperand(), op.getIndices(), op.getUpdates()};
}

void emitUpdate(OpaqueBuilder &tile, ScatterKind kind, Value position, Value source, Type element) {
  tile.store(0, position,
             emitCombined(tile.ir(), kind, tile.loadResult(0, position), tile.load(Input::updates, source), element));
}

void replaceByUpdate(PatternRewriter &rewriter, Operation *op, OpaqueBuilder &tile) {
  OpaqueOp update = tile.finish();
  update->setAttr(updatesAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, update);
}

/// No update leaves its line along the axis. A tile is such a line of the updates; of another axis than the last, the
/// neighbouring lines of a block, whose elements at one place of the axis stand in a row.
struct LowerScatterElements : OpRewritePattern<graph::ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterElementsOp op, PatternRewriter &rewriter) const override {
    constexpr int64_t blockLines = 64;
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), updateShape = graph::getShape(op.getIndices());
    int64_t axis = op.getAxis(), last = shape.size() - 1;
    bool hasBlocks = axis != last;
    SmallVector<Expr> lines, blocks;
    for (auto [extent, updated] : llvm::zip_equal(shape, updateShape))
      lines.push_back(Expr::min(extent, updated));
    blocks = lines;
    if (hasBlocks)
      blocks[last] = Expr::ceilDiv(lines[last], blockLines);
    blocks[axis] = Expr::constant(getContext(), 1);
    Expr count = blocks[axis];
    for (Expr extent : blocks)
      count = count * extent;

    OpaqueBuilder tile(rewriter, op.getLoc(), count, getInputs(op), type);
    SmallVector<Value> at = tile.delinearize(tile.tile(), blocks);
    Value zero = tile.constant(0), length = tile.size(shape[axis]);
    Value block = hasBlocks ? at[last] : Value();
    auto update = [&] {
      Value source = tile.linearize(at, updateShape);
      DataIndex target = tile.dataIndex(tile.load(Input::indices, source), length);
      tile.onlyIf(target.inside, [&] {
        SmallVector<Value> there(at);
        there[axis] = target.position;
        emitUpdate(tile, op.getKind(), tile.linearize(there, shape), source, type.getElementType());
      });
    };
    tile.loop(zero, tile.size(updateShape[axis]), [&](Value place) {
      at[axis] = place;
      if (!hasBlocks)
        return update();
      Value begin = tile.mul(block, tile.constant(blockLines));
      Value end = tile.min(tile.add(begin, tile.constant(blockLines)), tile.size(lines[last]));
      tile.loop(begin, end, [&](Value line) {
        at[last] = line;
        update();
      });
    });
    replaceByUpdate(rewriter, op, tile);
    return success();
  }
};

/// How the elements of a tensor of slices are dealt to tiles: each has so many columns of the slices in a run of the
/// tensor.
struct SliceTiles {
  Expr runs, columns;

  /// Every tile looks at every vector of indices, which costs about as much as the update of a few vectors: many short
  /// updates make few tiles. Tiles of columns have all the same to do, whatever the indices are.
  SliceTiles(Expr vectors, Expr sliceSize) {
    constexpr int64_t mostTiles = 32, leastElements = 4096, elementsPerVector = 64;
    auto constant = [&](int64_t value) { return Expr::constant(vectors.context(), value); };
    Expr least = Expr::max(constant(leastElements), vectors * elementsPerVector);
    Expr tiles = Expr::min(constant(mostTiles - 1), Expr::floorDiv(vectors * sliceSize, least)) + 1;
    Expr lines = Expr::floorDiv(sliceSize, granule);
    bool isNarrow = lines.asConstant().value_or(granule) < 2;
    columns = isNarrow ? constant(1) : Expr::max(constant(1), Expr::min(tiles, lines));
    runs = Expr::floorDiv(tiles, columns);
  }

  /// Runs and columns begin with a line of the cache.
  static constexpr int64_t granule = 64;
  static Expr divide(Expr elements, Expr parts) { return Expr::ceilDiv(elements, parts * granule) * granule; }
};

/// Of all updates, in their order, a tile applies what falls into its part of the tensor. So updates may meet anywhere,
/// and no tile waits for another.
struct LowerScatterNd : OpRewritePattern<graph::ScatterNdOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ScatterNdOp op, PatternRewriter &rewriter) const override {
    auto type = cast<graph::TensorType>(op.getOperand().getType());
    ArrayRef<Expr> shape = type.getShape(), indexShape = graph::getShape(op.getIndices());
    std::optional<int64_t> depth = indexShape.back().asConstant();
    if (!depth)
      return rewriter.notifyMatchFailure(op, "the size of the last dimension of the indices is not known");
    Expr one = Expr::constant(getContext(), 1), vectors = one, sliceSize = one;
    for (Expr extent : indexShape.drop_back())
      vectors = vectors * extent;
    for (Expr extent : shape.drop_front(*depth))
      sliceSize = sliceSize * extent;
    SliceTiles tiles(vectors, sliceSize);

    OpaqueBuilder tile(rewriter, op.getLoc(), tiles.runs * tiles.columns, getInputs(op), type);
    SmallVector<Value> at = tile.delinearize(tile.tile(), {tiles.runs, tiles.columns});
    Value run = tile.size(SliceTiles::divide(type.getNumElements(), tiles.runs)), runBegin = tile.mul(at[0], run);
    Value column = tile.size(SliceTiles::divide(sliceSize, tiles.columns)), columnBegin = tile.mul(at[1], column);
    Value runEnd = tile.add(runBegin, run), zero = tile.constant(0), size = tile.size(sliceSize);
    Value columnEnd = tile.min(tile.add(columnBegin, column), size);

    tile.loop(zero, tile.size(vectors), [&](Value vector) {
      Value slice = zero, inside;
      for (int64_t component = 0; component < *depth; ++component) {
        Value extent = tile.size(shape[component]);
        Value source = tile.add(tile.mul(vector, tile.constant(*depth)), tile.constant(component));
        DataIndex target = tile.dataIndex(tile.load(Input::indices, source), extent);
        slice = tile.add(tile.mul(slice, extent), target.position);
        inside = inside ? arith::AndIOp::create(tile.ir(), inside, target.inside).getResult() : target.inside;
      }
      tile.onlyIf(inside, [&] {
        Value first = tile.mul(slice, size), toUpdates = tile.sub(tile.mul(vector, size), first);
        Value from = tile.max(tile.add(first, columnBegin), runBegin),
              to = tile.min(tile.add(first, columnEnd), runEnd);
        tile.loopInVectors(from, to, [&](Value i) {
          emitUpdate(tile, op.getKind(), i, tile.add(toUpdates, i), type.getElementType());
        });
      });
    });
    replaceByUpdate(rewriter, op, tile);
    return success();
  }
};

} // namespace

void populateScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerScatterElements, LowerScatterNd>(patterns.getContext());
}

} // namespace freestone::tile
