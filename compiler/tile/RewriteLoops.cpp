#include "compiler/tile/RewriteLoops.h"

#include "compiler/dialect/graph/ShapeRules.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/ColumnSegments.h"
#include "compiler/plan/PositionRanges.h"
#include "compiler/tile/Scalars.h"
#include "compiler/tile/TileWindow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

SmallVector<Value> cloneBody(ComputeBody &body, ComputeOp op, ValueRange inputs, ValueRange accumulators,
                             ValueRange tables, ArrayRef<Expr> loops) {
  IRMapping mapping;
  mapping.map(op.getInputArgs(), inputs);
  mapping.map(op.getAccumulators(), accumulators);
  mapping.map(op.getReadArgs(), tables);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<IndexOp>(inner))
      mapping.map(index.getResult(), body.index(loops[index.getLoop()]));
    else
      body.builder.clone(inner, mapping);
  }
  return llvm::map_to_vector(op.getBody()->getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookup(value); });
}

std::optional<ProducedTensor> getProducer(Value tensor) {
  ProducedTensor producer;
  while (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>()) {
    producer.reshapes.push_back(reshape);
    tensor = reshape->getOperand(0);
  }
  producer.op = tensor.getDefiningOp<ComputeOp>();
  if (!producer.op)
    return std::nullopt;
  producer.result = cast<OpResult>(tensor).getResultNumber();
  return producer;
}

Value reshapeTo(OpBuilder &builder, Location location, Value tensor, ArrayRef<Expr> shape) {
  auto type = cast<graph::TensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  // A reshape of a reshape is one reshape.
  Value source = getReshapeSource(tensor);
  auto sourceType = cast<graph::TensorType>(source.getType());
  if (sourceType.getShape() == shape)
    return source;
  return graph::ReshapeOp::create(builder, location, graph::TensorType::get(shape, type.getElementType()), source);
}

static SmallVector<Type> getElementTypes(ComputeOp op) {
  return llvm::map_to_vector(op.getResultTypes(),
                             [](Type type) { return cast<graph::TensorType>(type).getElementType(); });
}

static SmallVector<TypedAttr> getInits(ComputeOp op) {
  return llvm::map_to_vector(op.getInitValues(), llvm::CastTo<TypedAttr>);
}

static ComputeBuilder getBuilderOver(OpBuilder &builder, Location location, ArrayRef<Expr> extents,
                                     unsigned numParallel) {
  return ComputeBuilder(builder, location, extents.take_front(numParallel), extents.drop_front(numParallel));
}

/// Keeps the layouts of results whose shape is unchanged.
static FailureOr<ComputeOp> keepLayouts(FailureOr<ComputeOp> copy, ComputeOp op) {
  if (failed(copy))
    return copy;
  for (unsigned result = 0; result < op.getNumResults(); ++result) {
    graph::TensorType type = op.getResultType(result);
    if (!type.getLayout())
      continue;
    assert(type.getShape() == copy->getResultType(result).getShape() && "loops over a layout are not reshaped");
    copy->getResult(result).setType(type);
  }
  return copy;
}

FailureOr<ComputeOp> createWithBody(ComputeBuilder &builder, ComputeOp op, ArrayRef<unsigned> inputs,
                                    ArrayRef<unsigned> tables, ArrayRef<Expr> loops) {
  FailureOr<ComputeOp> copy = builder.create(getElementTypes(op), getInits(op), [&](ComputeBody &body) {
    auto values = llvm::map_to_vector(inputs, [&](unsigned number) { return body.input(number); });
    auto tensors = llvm::map_to_vector(tables, [&](unsigned number) { return body.tensor(number); });
    return cloneBody(body, op, values, body.getAccumulators(), tensors, loops);
  });
  return keepLayouts(copy, op);
}

std::optional<SmallVector<unsigned>> getOrder(ComputeOp copy) {
  AffineMap map = isCopy(copy) && !copy.getFill(0) ? copy.getMap(0) : AffineMap();
  if (!map || !map.isPermutation() || map.isIdentity())
    return std::nullopt;
  SmallVector<unsigned> order(map.getNumResults());
  SmallVector<Expr> extents = copy.getExtents();
  for (auto [dim, result, extent] : llvm::enumerate(map.getResults(), copy.getInputType(0).getShape())) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (extents[loop] != extent)
      return std::nullopt;
    order[loop] = dim;
  }
  return order;
}

/// Whether the places where indices leave an operand are those where they leave the producer of a transposition, seen
/// through reshapes: such dimensions are whole in each shape.
static bool keepsOutside(ArrayRef<Expr> indices, ArrayRef<Expr> from, ArrayRef<Expr> to, const LoopSpace &space) {
  return llvm::all_of(graph::getReshapeGroups(from, to), [&](const graph::ReshapeGroup &group) {
    bool isWhole = group.fromEnd - group.fromBegin == 1 && group.toEnd - group.toBegin == 1;
    return isWhole || llvm::all_of(llvm::seq(group.fromBegin, group.fromEnd),
                                   [&](unsigned dim) { return space.isInside(indices[dim], from[dim]); });
  });
}

/// Whether the places where indices leave a copy are those where they leave what it reads: each dimension that they may
/// leave is a whole one of that, as those of a picture are beside a slice of its channels.
static bool keepsOutside(ArrayRef<Expr> indices, ComputeOp copy, const LoopSpace &space) {
  if (!isCopy(copy) || copy.getFill(0))
    return false;
  SmallVector<Expr> places = getIndices(copy, 0);
  ArrayRef<Expr> shape = copy.getInputType(0).getShape();
  return llvm::all_of(llvm::enumerate(copy.getExtents()), [&](const auto &loop) {
    Expr symbol = getLoopSymbol(copy.getContext(), loop.index());
    return space.isInside(indices[loop.index()], loop.value()) ||
           llvm::any_of(llvm::zip_equal(places, shape),
                        [&](auto dim) { return std::get<0>(dim) == symbol && std::get<1>(dim) == loop.value(); });
  });
}

static bool movesAlong(ArrayRef<Expr> indices, unsigned loop) {
  return llvm::any_of(indices, [&](Expr index) { return llvm::is_contained(getLoops(index), loop); });
}

FailureOr<ComputeOp> inlineProducer(OpBuilder &builder, ComputeOp consumer, unsigned input,
                                    const ProducedTensor &producer, const sym::Bounds &sizes) {
  ComputeOp source = producer.op;
  TypedAttr fill = consumer.getFill(input);
  if (source.getNumReductions())
    return failure();
  LoopSpace space(consumer.getExtents(), sizes);
  SmallVector<Expr> indices = getIndices(consumer, input);
  for (Operation *reshape : producer.reshapes) {
    ArrayRef<Expr> from = graph::getShape(reshape->getResult(0)), to = graph::getShape(reshape->getOperand(0));
    if (fill && !keepsOutside(indices, from, to, space))
      return failure();
    indices = space.reshape(indices, from, to);
  }
  bool isPiece = fill && !keepsOutside(indices, source, space);
  if (isPiece && !isPieceOfRows(consumer, input))
    return failure();

  Location location = FusedLoc::get(builder.getContext(), {source.getLoc(), consumer.getLoc()});
  ComputeBuilder result = getBuilderOver(builder, location, consumer.getExtents(), consumer.getNumParallel());
  SmallVector<unsigned> consumerReads(consumer.getInputs().size()), sourceReads, consumerTables, sourceTables;
  auto readSource = [&] {
    for (auto [number, tensor] : llvm::enumerate(source.getInputs())) {
      SmallVector<Expr> composed = llvm::map_to_vector(
          getIndices(source, number), [&](Expr index) { return space.simplify(substituteLoops(index, indices)); });
      TypedAttr outside = fill && !isPiece ? fill : source.getFill(number);
      if (isPiece && !outside && movesAlong(composed, consumer.getNumLoops() - 1))
        outside = getScalarAttr(source.getInputType(number).getElementType(), 0);
      sourceReads.push_back(result.read(tensor, composed, outside));
    }
  };
  for (auto [number, tensor] : llvm::enumerate(consumer.getInputs())) {
    if (number == input)
      readSource();
    else
      consumerReads[number] = result.read(tensor, getIndices(consumer, number), consumer.getFill(number));
  }
  for (Value tensor : consumer.getReads())
    consumerTables.push_back(result.table(tensor));
  for (Value tensor : source.getReads())
    sourceTables.push_back(result.table(tensor));

  FailureOr<ComputeOp> inlined = result.create(getElementTypes(consumer), getInits(consumer), [&](ComputeBody &body) {
    auto scalars = [&](unsigned number) { return body.input(number); };
    auto tensors = [&](unsigned number) { return body.tensor(number); };
    SmallVector<Value> produced = cloneBody(body, source, llvm::map_to_vector(sourceReads, scalars), {},
                                            llvm::map_to_vector(sourceTables, tensors), indices);
    SmallVector<Value> inputs;
    for (unsigned number = 0; number < consumerReads.size(); ++number)
      inputs.push_back(number == input ? produced[producer.result] : body.input(consumerReads[number]));
    SmallVector<Expr> loops;
    for (unsigned number = 0; number < consumer.getNumLoops(); ++number)
      loops.push_back(result.loop(number));
    return cloneBody(body, consumer, inputs, body.getAccumulators(), llvm::map_to_vector(consumerTables, tensors),
                     loops);
  });
  return keepLayouts(inlined, consumer);
}

/// Clones a body that reads nothing but tables, at positions that are values of another body.
static Value cloneAt(OpBuilder &builder, ComputeOp op, ValueRange positions, ValueRange tables) {
  IRMapping mapping;
  mapping.map(op.getReadArgs(), tables);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<IndexOp>(inner))
      mapping.map(index, positions[index.getLoop()]);
    else
      builder.clone(inner, mapping);
  }
  return mapping.lookup(op.getBody()->getTerminator()->getOperand(0));
}

FailureOr<ComputeOp> inlineTable(OpBuilder &builder, ComputeOp consumer, unsigned table) {
  auto source = consumer.getReads()[table].getDefiningOp<ComputeOp>();
  if (!source || source.getNumReductions() || source.getNumResults() != 1 || !source.getInputs().empty())
    return failure();
  PositionRanges ranges(consumer);
  for (auto read : consumer.getBody()->getOps<ReadOp>())
    for (unsigned dim = 0; read.getReadNumber() == table && dim < read.getIndices().size(); ++dim)
      if (!ranges.isInside(read, dim))
        return failure();

  Location location = FusedLoc::get(builder.getContext(), {source.getLoc(), consumer.getLoc()});
  ComputeBuilder result = getBuilderOver(builder, location, consumer.getExtents(), consumer.getNumParallel());
  SmallVector<unsigned> inputs, kept, tables;
  for (auto [number, tensor] : llvm::enumerate(consumer.getInputs()))
    inputs.push_back(result.read(tensor, getIndices(consumer, number), consumer.getFill(number)));
  for (auto [number, tensor] : llvm::enumerate(consumer.getReads()))
    kept.push_back(number == table ? 0 : result.table(tensor));
  for (Value tensor : source.getReads())
    tables.push_back(result.table(tensor));
  FailureOr<ComputeOp> inlined = result.create(getElementTypes(consumer), getInits(consumer), [&](ComputeBody &body) {
    auto scalars = [&](unsigned number) { return body.input(number); };
    auto tensors = [&](unsigned number) { return body.tensor(number); };
    SmallVector<Value> sourceTables = llvm::map_to_vector(tables, tensors);
    IRMapping mapping;
    mapping.map(consumer.getInputArgs(), llvm::map_to_vector(inputs, scalars));
    mapping.map(consumer.getAccumulators(), body.getAccumulators());
    for (auto [number, argument] : llvm::enumerate(consumer.getReadArgs()))
      if (number != table)
        mapping.map(argument, body.tensor(kept[number]));
    for (Operation &op : consumer.getBody()->without_terminator()) {
      auto read = dyn_cast<ReadOp>(op);
      if (!read || read.getReadNumber() != table) {
        body.builder.clone(op, mapping);
        continue;
      }
      auto positions = llvm::map_to_vector(read.getIndices(), [&](Value index) { return mapping.lookup(index); });
      mapping.map(read, cloneAt(body.builder, source, positions, sourceTables));
    }
    return llvm::map_to_vector(consumer.getBody()->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookup(value); });
  });
  return keepLayouts(inlined, consumer);
}

/// Whether some operand is contiguous along a loop.
static bool walksAlongMemory(ComputeOp op, unsigned loop) {
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    if (std::optional<LinearIndex> linear = getStrides(op, input); linear && linear->strides[loop].isConstant(1))
      return true;
  return false;
}

/// Whether rows of a gather (`tile.read`) are contiguous along a loop.
static bool walksAlongRows(ComputeOp op, unsigned loop) {
  return llvm::any_of(op.getBody()->getOps<ReadOp>(), [&](ReadOp read) {
    auto index = read.getIndices().empty() ? IndexOp() : read.getIndices().back().getDefiningOp<IndexOp>();
    return index && index.getLoop() == loop;
  });
}

bool readsAlongMemory(ComputeOp op, ArrayRef<unsigned> order) {
  if (order.empty())
    return true;
  if (std::optional<WindowForm> window = WindowForm::get(op); window && isWindowInRegisters(*window))
    return order.back() == window->pixelLoop;
  if (op.getNumReductions() && getContractionDims(op))
    return true;
  unsigned before = order.size() - 1, then = order.back();
  if (walksAlongRows(op, before) && !walksAlongRows(op, then))
    return false;
  return !op.getNumReductions() || !walksAlongMemory(op, before) || walksAlongMemory(op, then);
}

FailureOr<ComputeOp> permuteLoops(OpBuilder &builder, ComputeOp op, ArrayRef<unsigned> order) {
  SmallVector<Expr> old = op.getExtents(), extents = old, loops(old.size());
  MLIRContext *context = builder.getContext();
  for (unsigned loop = 0; loop < old.size(); ++loop) {
    unsigned from = loop < order.size() ? order[loop] : loop;
    extents[loop] = old[from];
    loops[from] = getLoopSymbol(context, loop);
  }
  ComputeBuilder result = getBuilderOver(builder, op.getLoc(), extents, op.getNumParallel());
  SmallVector<unsigned> inputs, tables;
  for (auto [number, tensor] : llvm::enumerate(op.getInputs())) {
    SmallVector<Expr> indices = getIndices(op, number, loops);
    inputs.push_back(result.read(tensor, indices, op.getFill(number)));
  }
  for (Value tensor : op.getReads())
    tables.push_back(result.table(tensor));
  return createWithBody(result, op, inputs, tables, loops);
}

FailureOr<ComputeOp> reshapeLoops(OpBuilder &builder, ComputeOp op, ArrayRef<Expr> shape, const sym::Bounds &sizes) {
  if (op.getNumReductions())
    return failure();
  LoopSpace space(shape, sizes);
  SmallVector<Expr> loops;
  for (unsigned loop = 0; loop < shape.size(); ++loop)
    loops.push_back(getLoopSymbol(builder.getContext(), loop));
  SmallVector<Expr> oldLoops = space.reshape(loops, shape, op.getExtents());

  ComputeBuilder result(builder, op.getLoc(), shape);
  SmallVector<unsigned> inputs, tables;
  SmallVector<std::pair<unsigned, Value>> reshaped;
  SmallVector<SmallVector<Expr>> indices;
  for (auto [number, tensor] : llvm::enumerate(op.getInputs())) {
    if (isReadAtParallelLoops(op, number) && !op.getFill(number) &&
        ArrayRef(op.getExtents()) == op.getInputType(number).getShape()) {
      indices.push_back(loops);
      continue;
    }
    SmallVector<Expr> composed;
    for (Expr index : getIndices(op, number)) {
      composed.push_back(space.simplify(substituteLoops(index, oldLoops)));
      if (!asLinear(composed.back(), shape.size()))
        return failure();
    }
    indices.push_back(composed);
  }
  for (auto [number, tensor] : llvm::enumerate(op.getInputs())) {
    bool whole = isReadAtParallelLoops(op, number) && !op.getFill(number) &&
                 ArrayRef(op.getExtents()) == op.getInputType(number).getShape();
    Value source = whole ? reshapeTo(builder, op.getLoc(), tensor, shape) : tensor;
    inputs.push_back(result.read(source, indices[number], op.getFill(number)));
  }
  for (Value tensor : op.getReads())
    tables.push_back(result.table(tensor));
  return createWithBody(result, op, inputs, tables, oldLoops);
}

sym::Bounds getSizeBounds(Operation *op) {
  sym::Bounds bounds(sym::Interval::size());
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  auto symbols = function ? function->getAttrOfType<DictionaryAttr>("graph.symbols") : DictionaryAttr();
  if (!symbols)
    return bounds;
  for (NamedAttribute symbol : symbols)
    if (auto known = dyn_cast<sym::SymbolBoundsAttr>(symbol.getValue()))
      bounds.set(symbol.getName(), known.getBounds());
  return bounds;
}

} // namespace freestone::tile
