#include "compiler/codegen/cpu/EmitMap.h"

#include "compiler/codegen/cpu/VectorizeBody.h"
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
  MapEmitter(tile::ProgramOp program, Emission &emission)
      : emission(emission), builder(emission.builder), computes(program.getComputes()), program(program) {}

  LogicalResult emit();

private:
  LogicalResult checkLoops();
  void emitTile(Value tile);
  void emitColumns(ArrayRef<Value> outer, Value from, Value to);
  void emitPoints(ArrayRef<Value> outer, Value column, unsigned lanes, Value mask);
  SmallVector<Value> emitCompute(tile::ComputeOp compute, const LanePoints &points,
                                 const DenseMap<Value, Value> &computed);
  SmallVector<Value> emitReduction(tile::ComputeOp compute, LanePoints points, unsigned loop, ValueRange accumulators,
                                   const DenseMap<Value, Value> &computed);
  Expr planned(StringRef entry) { return cast<sym::ExprAttr>(program.getPlanEntry(entry)).getExpr(); }

  Emission &emission;
  OpBuilder &builder;
  SmallVector<tile::ComputeOp> computes;
  tile::ProgramOp program;
  /// The parallel loops that all computes have; the last one is the innermost.
  SmallVector<Expr> parallel;
};

LogicalResult MapEmitter::checkLoops() {
  parallel = llvm::to_vector(ArrayRef(computes.front().getExtents()).take_front(computes.front().getNumParallel()));
  for (tile::ComputeOp compute : computes)
    if (ArrayRef(compute.getExtents()).take_front(compute.getNumParallel()) != ArrayRef(parallel))
      return compute.emitError("has other parallel loops than the first of its program");
  return success();
}

LogicalResult MapEmitter::emit() {
  if (failed(checkLoops()))
    return failure();
  emission.forTiles([&](Value tile) { emitTile(tile); });
  return success();
}

void MapEmitter::emitTile(Value tile) {
  if (parallel.empty())
    return emitPoints({}, {}, 1, {});
  ArrayRef<Expr> outerExtents = ArrayRef(parallel).drop_back();
  Expr rowCount = Expr::constant(builder.getContext(), 1);
  for (Expr extent : outerExtents)
    rowCount = rowCount * extent;
  Expr columnCount = parallel.back(), rows = planned("rows"), columns = planned("columns");

  Value chunks = emission.getSize(Expr::ceilDiv(columnCount, columns));
  Value rowTile = emission.divide(tile, chunks);
  Value chunk = emission.subtract(tile, emission.multiply(rowTile, chunks));
  Value from = emission.multiply(chunk, emission.getSize(columns));
  Value to = emission.minimum(emission.add(from, emission.getSize(columns)), emission.getSize(columnCount));
  if (outerExtents.empty())
    return emitColumns({}, from, to);
  Value firstRow = emission.multiply(rowTile, emission.getSize(rows));
  Value endRow = emission.minimum(emission.add(firstRow, emission.getSize(rows)), emission.getSize(rowCount));
  emission.forRange(firstRow, endRow, 1,
                    [&](Value row) { emitColumns(emission.unravel(row, outerExtents), from, to); });
}

/// Whole vectors, then one masked.
void MapEmitter::emitColumns(ArrayRef<Value> outer, Value from, Value to) {
  unsigned lanes = emission.device.getLanes(32);
  if (std::optional<int64_t> count = parallel.back().asConstant(); count && *count == 1)
    return emission.forRange(from, to, 1, [&](Value column) { emitPoints(outer, column, 1, {}); });
  Value width = emission.getConstant(lanes);
  Value whole = emission.add(from, emission.multiply(emission.divide(emission.subtract(to, from), width), width));
  emission.forRange(from, whole, lanes, [&](Value column) { emitPoints(outer, column, lanes, {}); });
  Value left = emission.subtract(to, whole);
  Value any = arith::CmpIOp::create(builder, emission.location, arith::CmpIPredicate::sgt, left, emission.getConstant(0));
  auto branch = scf::IfOp::create(builder, emission.location, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitPoints(outer, whole, lanes, emission.getTailMask(lanes, left));
}

void MapEmitter::emitPoints(ArrayRef<Value> outer, Value column, unsigned lanes, Value mask) {
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

  DenseMap<Value, Value> computed;
  for (tile::ComputeOp compute : computes) {
    SmallVector<Value> values = emitCompute(compute, points, computed);
    for (auto [result, value] : llvm::zip_equal(compute.getResults(), values)) {
      computed[result] = value;
      if (Value memory = emission.getBuffer(result))
        BodyVectorizer(emission, compute, points).store(value, cast<graph::TensorType>(result.getType()), memory);
    }
  }
}

SmallVector<Value> MapEmitter::emitCompute(tile::ComputeOp compute, const LanePoints &points,
                                           const DenseMap<Value, Value> &computed) {
  if (compute.getNumReductions()) {
    SmallVector<Value> inits;
    for (unsigned result = 0; result < compute.getNumResults(); ++result) {
      Value init = arith::ConstantOp::create(builder, compute.getLoc(), compute.getInit(result));
      inits.push_back(BodyVectorizer(emission, compute, points).spread(init));
    }
    return emitReduction(compute, points, compute.getNumParallel(), inits, computed);
  }
  BodyVectorizer body(emission, compute, points);
  for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
    if (Value value = computed.lookup(input))
      body.set(argument, value);
  return body.getYielded();
}

/// The loops that reduce from `loop` on, around the body; returns the accumulators behind them.
SmallVector<Value> MapEmitter::emitReduction(tile::ComputeOp compute, LanePoints points, unsigned loop, ValueRange accumulators,
                                             const DenseMap<Value, Value> &computed) {
  if (loop == compute.getNumLoops()) {
    BodyVectorizer body(emission, compute, points);
    for (auto [argument, value] : llvm::zip_equal(compute.getAccumulators(), accumulators))
      body.set(argument, value);
    for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      if (Value value = computed.lookup(input))
        body.set(argument, value);
    SmallVector<Value> next;
    for (Value value : body.getYielded())
      next.push_back(body.spread(value));
    return next;
  }
  Value extent = emission.getSize(compute.getExtents()[loop]);
  auto nest = scf::ForOp::create(builder, compute.getLoc(), emission.getConstant(0), extent, emission.getConstant(1), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(nest.getBody());
  Expr symbol = emission.getPositionSymbol("reduced" + std::to_string(loop));
  points.loops.push_back(symbol);
  points.positions.push_back({symbol, nest.getInductionVar()});
  SmallVector<Value> next = emitReduction(compute, points, loop + 1, nest.getRegionIterArgs(), computed);
  scf::YieldOp::create(builder, compute.getLoc(), next);
  return llvm::to_vector_of<Value>(nest.getResults());
}

} // namespace

LogicalResult codegen::emitMap(tile::ProgramOp program, Emission &emission) { return MapEmitter(program, emission).emit(); }
