#include "compiler/codegen/cpu/EmitTransposition.h"

#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/codegen/cpu/VectorizeBody.h"
#include "compiler/plan/TranspositionTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class TranspositionEmitter {
public:
  TranspositionEmitter(tile::ProgramOp program, Emission &emission, tile::TranspositionTilingAttr tiling)
      : emission(emission), builder(emission.builder), location(emission.location), computes(program.getComputes()),
        tiling(tiling), tiles(tile::TranspositionTiles::get(computes.front(), tiling)), lanes(tiling.getLanes()) {}

  void emit();

private:
  /// Rows and columns [from, to).
  struct Range {
    Value from, to;
  };
  /// The first row and column of a block. For a partial block, also the rows and columns left in the tile; else null.
  struct Block {
    Value row, column;
    Value rowsLeft, columnsLeft;
  };
  /// Vectors computed before a body: results of earlier computes, and transposed operands.
  using Known = DenseMap<Value, Value>;

  void emitTile(Value tile);
  Range getRange(Value number, int64_t size, Expr count);
  void forBlocks(Range rows, Range columns);
  void emitBlock(const Block &block);
  void emitTransposed(const Block &block);
  SmallVector<Value> transposeOperand(tile::ComputeOp compute, unsigned input, const Block &block);
  void emitInterleaved(const Block &block);
  void storeInterleaved(Value memory, graph::TensorType type, ArrayRef<Value> columns, const Block &block);
  LanePoints getPoints(Value row, Value column);
  Value isBelow(int64_t number, Value left);
  void emitCompute(tile::ComputeOp compute, const LanePoints &points, Known &known, bool stores);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  SmallVector<tile::ComputeOp> computes;
  tile::TranspositionTilingAttr tiling;
  tile::TranspositionTiles tiles;
  int64_t lanes;
  /// Positions of the loops other than rows and columns, in the current tile.
  SmallVector<Value> plane;
};

void TranspositionEmitter::emit() {
  emission.forTiles([&](Value tile) { emitTile(tile); });
}

TranspositionEmitter::Range TranspositionEmitter::getRange(Value number, int64_t size, Expr count) {
  Value from = emission.multiply(number, emission.getConstant(size));
  return {from, emission.minimum(emission.add(from, emission.getConstant(size)), emission.getSize(count))};
}

void TranspositionEmitter::emitTile(Value tile) {
  SmallVector<Expr> extents = tiles.planes;
  extents.append({tiles.rowBlocks, tiles.columnBlocks});
  plane = emission.unravel(tile, extents);
  Value columnBlock = plane.pop_back_val(), rowBlock = plane.pop_back_val();
  forBlocks(getRange(rowBlock, tiling.getRows(), tiles.rowCount),
            getRange(columnBlock, tiling.getColumns(), tiles.columnCount));
}

/// Loops over the blocks of a tile: whole ones without masks, masked ones at the ends of rows and columns.
void TranspositionEmitter::forBlocks(Range rows, Range columns) {
  emission.forRange(rows.from, rows.to, lanes, [&](Value row) {
    emission.forRange(columns.from, columns.to, tiling.getWidth(), [&](Value column) {
      Value rowsLeft = emission.subtract(rows.to, row), columnsLeft = emission.subtract(columns.to, column);
      auto holds = [&](Value left, int64_t size) -> Value {
        return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, left, emission.getConstant(size));
      };
      Value whole =
          arith::AndIOp::create(builder, location, holds(rowsLeft, lanes), holds(columnsLeft, tiling.getWidth()));
      auto branch = scf::IfOp::create(builder, location, whole, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      emitBlock({row, column, {}, {}});
      builder.setInsertionPointToStart(branch.elseBlock());
      emitBlock({row, column, rowsLeft, columnsLeft});
    });
  });
}

void TranspositionEmitter::emitBlock(const Block &block) {
  tiling.interleaves() ? emitInterleaved(block) : emitTransposed(block);
}

/// The points from a row and a column on; the caller sets `lane`, the loop that lanes run along.
LanePoints TranspositionEmitter::getPoints(Value row, Value column) {
  LanePoints points;
  points.lanes = lanes;
  SmallVector<Value> values = plane;
  values.insert(values.begin() + tiling.getAcross(), row);
  for (auto [number, value] : llvm::enumerate(values)) {
    Expr symbol = emission.getPositionSymbol("row" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  Expr symbol = emission.getPositionSymbol("column");
  points.loops.push_back(symbol);
  points.positions.push_back({symbol, column});
  return points;
}

Value TranspositionEmitter::isBelow(int64_t number, Value left) {
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, emission.getConstant(number), left);
}

void TranspositionEmitter::emitCompute(tile::ComputeOp compute, const LanePoints &points, Known &known, bool stores) {
  BodyVectorizer body(emission, compute, points);
  for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs())) {
    Value value = known.lookup(argument);
    if (!value)
      value = known.lookup(input);
    if (value)
      body.set(argument, value);
  }
  for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded())) {
    known[result] = value;
    if (Value memory = emission.getBuffer(result); memory && stores)
      body.store(value, cast<graph::TensorType>(result.getType()), memory);
  }
}

/// An operand's elements of a block: loads a vector of rows for every column, and transposes them to a vector of
/// columns for every row.
SmallVector<Value> TranspositionEmitter::transposeOperand(tile::ComputeOp compute, unsigned input, const Block &block) {
  SmallVector<Value> columns;
  Value rowMask = block.rowsLeft ? emission.getTailMask(lanes, block.rowsLeft) : Value();
  Value argument = compute.getInputArgs()[input];
  for (int64_t number = 0; number < lanes; ++number) {
    LanePoints points = getPoints(block.row, emission.add(block.column, emission.getConstant(number)));
    points.lane = points.loops[tiling.getAcross()];
    points.mask = rowMask;
    auto load = [&] { return BodyVectorizer(emission, compute, points).getVector(argument); };
    if (!block.columnsLeft) {
      columns.push_back(load());
      continue;
    }
    auto type = VectorType::get({lanes}, argument.getType());
    auto branch =
        scf::IfOp::create(builder, location, type, isBelow(number, block.columnsLeft), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, location, load());
    builder.setInsertionPointToStart(branch.elseBlock());
    Value none = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
    scf::YieldOp::create(builder, location, none);
    columns.push_back(branch.getResult(0));
  }
  return transposeLanes(builder, location, columns);
}

/// Lanes are columns: operands that are contiguous along the rows are transposed first.
void TranspositionEmitter::emitTransposed(const Block &block) {
  SmallVector<Known> rows(lanes);
  for (tile::ComputeOp compute : computes)
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      if (!emission.getBuffer(compute.getInputs()[input]) || !tile::liesAlong(compute, input, tiling.getAcross()))
        continue;
      SmallVector<Value> transposed = transposeOperand(compute, input, block);
      for (auto [row, value] : llvm::zip_equal(rows, transposed))
        row[compute.getInputArgs()[input]] = value;
    }
  Value columnMask = block.columnsLeft ? emission.getTailMask(lanes, block.columnsLeft) : Value();
  for (auto [number, known] : llvm::enumerate(rows)) {
    OpBuilder::InsertionGuard guard(builder);
    if (block.rowsLeft) {
      auto branch = scf::IfOp::create(builder, location, isBelow(number, block.rowsLeft), /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    LanePoints points = getPoints(emission.add(block.row, emission.getConstant(number)), block.column);
    points.lane = points.loops.back();
    points.mask = columnMask;
    for (tile::ComputeOp compute : computes)
      emitCompute(compute, points, known, /*stores=*/true);
  }
}

/// Lanes are rows: all columns are computed, then interleaved, since a row of the results is contiguous.
void TranspositionEmitter::emitInterleaved(const Block &block) {
  SmallVector<Known> columns(tiling.getWidth());
  LanePoints points = getPoints(block.row, block.column);
  points.lane = points.loops[tiling.getAcross()];
  if (block.rowsLeft)
    points.mask = emission.getTailMask(lanes, block.rowsLeft);
  points.positions.pop_back();
  for (auto [number, known] : llvm::enumerate(columns)) {
    points.loops.back() = Expr::constant(builder.getContext(), number);
    for (tile::ComputeOp compute : computes)
      emitCompute(compute, points, known, /*stores=*/false);
  }
  for (tile::ComputeOp compute : computes)
    for (Value result : compute.getResults())
      if (Value memory = emission.getBuffer(result)) {
        SmallVector<Value> values;
        for (Known &known : columns)
          values.push_back(known.lookup(result));
        storeInterleaved(memory, cast<graph::TensorType>(result.getType()), values, block);
      }
}

void TranspositionEmitter::storeInterleaved(Value memory, graph::TensorType type, ArrayRef<Value> columns,
                                            const Block &block) {
  auto vectorType = VectorType::get({lanes}, tile::getStorageType(type.getElementType()));
  SmallVector<Value> values;
  for (Value value : columns) {
    if (!isa<VectorType>(value.getType()))
      value = vector::BroadcastOp::create(builder, location, VectorType::get({lanes}, value.getType()), value);
    if (value.getType() != vectorType)
      value = arith::ExtUIOp::create(builder, location, vectorType, value);
    values.push_back(value);
  }
  LanePoints points = getPoints(block.row, block.column);
  Value first = emission.getIndex(tile::getLinearIndex(type, points.loops), points.positions);
  Value left = block.rowsLeft ? emission.multiply(block.rowsLeft, emission.getConstant(columns.size())) : Value();
  for (auto [number, value] : llvm::enumerate(interleaveLanes(builder, location, values))) {
    Value done = emission.getConstant(number * lanes), place = emission.add(first, done);
    if (left)
      vector::MaskedStoreOp::create(builder, location, memory, place,
                                    emission.getTailMask(lanes, emission.subtract(left, done)), value);
    else
      vector::StoreOp::create(builder, location, value, memory, place);
  }
}

} // namespace

void codegen::emitTransposition(tile::ProgramOp program, Emission &emission) {
  TranspositionEmitter(program, emission, program.getTiling<tile::TranspositionTilingAttr>()).emit();
}
