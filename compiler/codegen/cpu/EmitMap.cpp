#include "compiler/codegen/cpu/EmitMap.h"

#include "compiler/codegen/cpu/SharedValues.h"
#include "compiler/plan/MapTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class MapEmitter {
public:
  MapEmitter(tile::ProgramOp program, Emission &emission, tile::MapTilingAttr tiling)
      : emission(emission), builder(emission.builder), computes(program.getComputes()), tiling(tiling),
        tiles(tile::MapTiles::get(computes.front(), tiling)), parallel(tiles.parallel) {}

  void emit();

private:
  void emitTile(Value tile);
  void emitRow(ArrayRef<Value> outer, Value from, Value to);
  void emitSegments(ArrayRef<Value> outer, Value from, Value to);
  void emitColumns(ArrayRef<Value> outer, Value from, Value to, std::optional<int64_t> count = {});
  /// A vector of points, and the values computed there.
  struct Vector {
    LanePoints points;
    DenseMap<Value, Value> computed;
  };

  void emitPoints(ArrayRef<Value> outer, Value column, unsigned vectors, unsigned lanes, Value mask);
  LanePoints getPoints(ArrayRef<Value> outer, Value column, unsigned lanes, Value mask);
  size_t countTogether(ArrayRef<tile::ComputeOp> next);
  void emitMap(tile::ComputeOp compute, MutableArrayRef<Vector> vectors);
  void emitReductions(ArrayRef<tile::ComputeOp> together, MutableArrayRef<Vector> vectors);
  SmallVector<Value> emitLoops(ArrayRef<tile::ComputeOp> together, ArrayRef<Vector> vectors, Positions reduced,
                               unsigned loop, ValueRange accumulators);

  Emission &emission;
  OpBuilder &builder;
  SmallVector<tile::ComputeOp> computes;
  tile::MapTilingAttr tiling;
  tile::MapTiles tiles;
  ArrayRef<Expr> parallel;
  /// The values of the current row that its columns share.
  DenseMap<tile::ComputeOp, SharedValues> shared;
  /// What holds in the current segment of columns.
  DenseMap<tile::ComputeOp, tile::ColumnFacts> facts;
};

void MapEmitter::emit() {
  emission.forTiles([&](Value tile) { emitTile(tile); });
}

void MapEmitter::emitTile(Value tile) {
  if (parallel.empty())
    return emitPoints({}, {}, 1, 1, {});
  ArrayRef<Expr> outerExtents = parallel.drop_back();
  Expr columnCount = parallel.back(), rows = tiling.getRows(), columns = tiling.getColumns();

  Value chunks = emission.getSize(tiles.columnBlocks);
  Value rowTile = emission.divide(tile, chunks);
  Value chunk = emission.subtract(tile, emission.multiply(rowTile, chunks));
  Value from = emission.multiply(chunk, emission.getSize(columns));
  Value to = emission.minimum(emission.add(from, emission.getSize(columns)), emission.getSize(columnCount));
  if (outerExtents.empty())
    return emitRow({}, from, to);
  Value firstRow = emission.multiply(rowTile, emission.getSize(rows));
  Value endRow = emission.minimum(emission.add(firstRow, emission.getSize(rows)), emission.getSize(tiles.rowCount));
  emission.forPoints(firstRow, endRow, outerExtents, [&](ArrayRef<Value> outer) { emitRow(outer, from, to); });
}

/// Emits the values that all columns or all vectors share once, before the loop over the columns. An empty range has no
/// point to compute them at.
void MapEmitter::emitRow(ArrayRef<Value> outer, Value from, Value to) {
  // Vectors of segments begin at any column, where those of a row have the same columns modulo their lanes.
  unsigned lanes = tiling.getEnds().empty() ? tiling.getLanes() : 1;
  if (llvm::none_of(computes, [&](tile::ComputeOp compute) { return hasSharedValues(compute, lanes); }))
    return emitSegments(outer, from, to);
  Value any = arith::CmpIOp::create(builder, emission.location, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(builder, emission.location, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (tile::ComputeOp compute : computes)
    shared[compute] =
        emitSharedValues(emission, compute, getPoints(outer, from, 1, {}), getPoints(outer, from, lanes, {}));
  emitSegments(outer, from, to);
}

/// A loop over the columns of each segment.
void MapEmitter::emitSegments(ArrayRef<Value> outer, Value from, Value to) {
  if (tiling.getEnds().empty())
    return emitColumns(outer, from, to);
  SmallVector<Expr> ends(tiling.getEnds());
  ends.push_back(parallel.back());
  Expr begin = Expr::constant(tiling.getContext(), 0);
  for (Expr end : ends) {
    for (tile::ComputeOp compute : computes)
      facts[compute] = tile::getColumnFacts(compute, begin, end);
    Value last = emission.minimum(emission.maximum(emission.getSize(end), from), to);
    emitColumns(outer, from, last, (end - begin).asConstant());
    from = last;
    begin = end;
  }
}

/// Whole vectors, several interleaved if the tiling says so, then a masked one; a few columns one by one. `count` is
/// the greatest number of columns, where it is known.
void MapEmitter::emitColumns(ArrayRef<Value> outer, Value from, Value to, std::optional<int64_t> count) {
  unsigned lanes = tiling.getLanes(), sideBySide = tiling.getVectors();
  if (lanes == 1 || count.value_or(lanes) <= tile::fewColumns)
    return emission.forRange(from, to, 1, [&](Value column) { emitPoints(outer, column, 1, 1, {}); });
  auto emitWhole = [&](Value begin, unsigned vectors) {
    unsigned step = vectors * lanes;
    Value width = emission.getConstant(step);
    Value whole = emission.add(begin, emission.multiply(emission.divide(emission.subtract(to, begin), width), width));
    emission.forRange(begin, whole, step, [&](Value column) { emitPoints(outer, column, vectors, lanes, {}); });
    return whole;
  };
  for (; sideBySide > 0; sideBySide /= 2)
    from = emitWhole(from, sideBySide);
  Value left = emission.subtract(to, from);
  Value any =
      arith::CmpIOp::create(builder, emission.location, arith::CmpIPredicate::sgt, left, emission.getConstant(0));
  auto branch = scf::IfOp::create(builder, emission.location, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitPoints(outer, from, 1, lanes, emission.getTailMask(lanes, left));
}

LanePoints MapEmitter::getPoints(ArrayRef<Value> outer, Value column, unsigned lanes, Value mask) {
  LanePoints points;
  points.lanes = lanes;
  points.mask = mask;
  for (auto [number, value] : llvm::enumerate(outer)) {
    Expr symbol = emission.getPositionSymbol("row" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  if (column) {
    Expr symbol = emission.getPositionSymbol("column");
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, column});
    if (lanes > 1)
      points.lane = symbol;
  }
  return points;
}

void MapEmitter::emitPoints(ArrayRef<Value> outer, Value column, unsigned count, unsigned lanes, Value mask) {
  SmallVector<Vector> vectors;
  for (unsigned number = 0; number < count; ++number) {
    Value at = number ? emission.add(column, emission.getConstant(number * lanes)) : column;
    vectors.emplace_back().points = getPoints(outer, at, lanes, mask);
  }
  for (ArrayRef<tile::ComputeOp> left = computes; !left.empty();) {
    ArrayRef<tile::ComputeOp> together = left.take_front(countTogether(left));
    left = left.drop_front(together.size());
    tile::ComputeOp first = together.front();
    if (first.getNumReductions())
      emitReductions(together, vectors);
    else
      emitMap(first, vectors);
    for (tile::ComputeOp compute : together)
      for (Vector &vector : vectors)
        for (Value result : compute.getResults())
          if (Value memory = emission.getBuffer(result))
            BodyVectorizer(emission, compute, vector.points)
                .store(vector.computed[result], cast<graph::TensorType>(result.getType()), memory);
  }
}

/// The number of reductions over the same elements without dependences, which share one loop.
size_t MapEmitter::countTogether(ArrayRef<tile::ComputeOp> next) {
  tile::ComputeOp first = next.front();
  if (!first.getNumReductions())
    return 1;
  size_t count = 1;
  for (; count < next.size(); ++count) {
    ArrayRef<tile::ComputeOp> before = next.take_front(count);
    tile::ComputeOp compute = next[count];
    bool reads = llvm::any_of(compute.getInputs(), [&](Value input) {
      return llvm::is_contained(before, input.getDefiningOp<tile::ComputeOp>());
    });
    if (reads || compute.getExtents() != first.getExtents() || compute.getNumParallel() != first.getNumParallel())
      break;
  }
  return count;
}

void MapEmitter::emitMap(tile::ComputeOp compute, MutableArrayRef<Vector> vectors) {
  SmallVector<BodyVectorizer, 0> bodies;
  for (Vector &vector : vectors) {
    BodyVectorizer &body = bodies.emplace_back(emission, compute, vector.points);
    body.share(shared[compute]);
    body.assume(facts[compute]);
    for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      if (Value value = vector.computed.lookup(input))
        body.set(argument, value);
  }
  // Each operation for all vectors, before the next one: chains are longer than a processor looks ahead.
  if (bodies.size() > 1)
    for (Operation &op : compute.getBody()->without_terminator())
      for (BodyVectorizer &body : bodies)
        for (Value result : op.getResults())
          body.get(result);
  for (auto [vector, body] : llvm::zip_equal(vectors, bodies))
    for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded()))
      vector.computed[result] = value;
}

void MapEmitter::emitReductions(ArrayRef<tile::ComputeOp> together, MutableArrayRef<Vector> vectors) {
  SmallVector<Value> values;
  for (Vector &vector : vectors)
    for (tile::ComputeOp compute : together)
      for (unsigned result = 0; result < compute.getNumResults(); ++result) {
        Value init = arith::ConstantOp::create(builder, compute.getLoc(), compute.getInit(result));
        values.push_back(BodyVectorizer(emission, compute, vector.points).spread(init));
      }
  tile::ComputeOp first = together.front();
  values = emitLoops(together, vectors, {}, first.getNumParallel(), values);
  auto next = values.begin();
  for (Vector &vector : vectors)
    for (tile::ComputeOp compute : together)
      for (Value result : compute.getResults())
        vector.computed[result] = *next++;
}

/// The reduction loops from `loop` on, around the bodies; returns the final accumulators of all vectors.
SmallVector<Value> MapEmitter::emitLoops(ArrayRef<tile::ComputeOp> together, ArrayRef<Vector> vectors,
                                         Positions reduced, unsigned loop, ValueRange accumulators) {
  tile::ComputeOp first = together.front();
  if (loop == first.getNumLoops()) {
    SmallVector<Value> next;
    for (const Vector &vector : vectors)
      for (tile::ComputeOp compute : together) {
        LanePoints points = vector.points;
        for (const Position &position : reduced) {
          points.loops.push_back(position.symbol);
          points.positions.push_back(position);
        }
        BodyVectorizer body(emission, compute, std::move(points));
        unsigned results = compute.getNumResults();
        for (auto [argument, value] :
             llvm::zip_equal(compute.getAccumulators(), accumulators.slice(next.size(), results)))
          body.set(argument, value);
        for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
          if (Value value = vector.computed.lookup(input))
            body.set(argument, value);
        for (Value value : body.getYielded())
          next.push_back(body.spread(value));
      }
    return next;
  }
  Value extent = emission.getSize(first.getExtents()[loop]);
  auto nest = scf::ForOp::create(builder, first.getLoc(), emission.getConstant(0), extent, emission.getConstant(1),
                                 accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(nest.getBody());
  reduced.push_back({emission.getPositionSymbol("reduced" + std::to_string(loop)), nest.getInductionVar()});
  SmallVector<Value> next = emitLoops(together, vectors, std::move(reduced), loop + 1, nest.getRegionIterArgs());
  scf::YieldOp::create(builder, first.getLoc(), next);
  return llvm::to_vector_of<Value>(nest.getResults());
}

} // namespace

void codegen::emitMap(tile::ProgramOp program, Emission &emission) {
  MapEmitter(program, emission, program.getTiling<tile::MapTilingAttr>()).emit();
}
