#include "compiler/codegen/cpu/RowEmitter.h"
#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::TranspositionAxis;

void RowEmitter::emitSquares() {
  tile::TranspositionTiles tiles = tile::TranspositionTiles::get(passes.entries.front().compute, squares);
  auto getSize = [&](int64_t size) { return Expr::constant(builder.getContext(), size); };
  Positions planes;
  walkTiles(tile::getFormTree(emission.program), tiles.planes, planes,
            {{tiles.rowBlocks, getSize(squares.getRows()), tiles.rowCount},
             {tiles.columnBlocks, getSize(squares.getColumns()), tiles.columnCount}});
}

/// A square: whole ones without masks, masked ones at the ends of rows and columns.
void RowEmitter::emitSquare() {
  const AxisRange &ofRows = axes.ranges[TranspositionAxis::rows], &ofColumns = axes.ranges[TranspositionAxis::columns];
  auto isWhole = [&](const AxisRange &range, int64_t size) {
    return compare(arith::CmpIPredicate::sge, range.count, emission.getConstant(size));
  };
  emitIf(
      conjoin(isWhole(ofRows, squares.getLanes()), isWhole(ofColumns, squares.getWidth())),
      [&] {
        emitSquare({ofRows.first, ofColumns.first, {}, {}});
      },
      [&] {
        emitSquare({ofRows.first, ofColumns.first, ofRows.count, ofColumns.count});
      });
}

void RowEmitter::emitSquare(const Square &square) {
  rows.clear();
  for (int64_t number = 0; number < squares.getLanes(); ++number) {
    Row &row = rows.emplace_back(Row{llvm::to_vector(ArrayRef(digits).drop_back(2))});
    row.indices.insert(row.indices.begin() + squares.getAcross(),
                       number ? emission.add(square.row, emission.getConstant(number)) : square.row);
  }
  squares.interleaves() ? emitInterleaved(square) : emitTransposed(square);
}

Value RowEmitter::isBelow(int64_t number, Value left) {
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, emission.getConstant(number), left);
}

/// An operand's elements of a square: loads a vector of rows for every column, and transposes them to a vector of
/// columns for every row.
SmallVector<Value> RowEmitter::transposeOperand(tile::ComputeOp compute, unsigned input, const Square &square) {
  SmallVector<Value> columnVectors;
  auto lanes = static_cast<unsigned>(squares.getLanes());
  Elements across{0,
                  {},
                  {},
                  lanes,
                  square.rowsLeft ? emission.getTailMask(lanes, square.rowsLeft) : Value(),
                  static_cast<unsigned>(squares.getAcross())};
  Value argument = compute.getInputArgs()[input];
  for (unsigned number = 0; number < lanes; ++number) {
    across.loops.assign(1, emission.add(square.column, emission.getConstant(number)));
    auto load = [&] { return BodyVectorizer(emission, compute, getPoints(compute, across)).getVector(argument); };
    if (!square.columnsLeft) {
      columnVectors.push_back(load());
      continue;
    }
    auto type = VectorType::get({lanes}, argument.getType());
    auto branch =
        scf::IfOp::create(builder, location, type, isBelow(number, square.columnsLeft), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, location, load());
    builder.setInsertionPointToStart(branch.elseBlock());
    Value none = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
    scf::YieldOp::create(builder, location, none);
    columnVectors.push_back(branch.getResult(0));
  }
  return transposeLanes(builder, location, columnVectors);
}

/// Lanes are columns: operands that are contiguous along the rows are transposed first.
void RowEmitter::emitTransposed(const Square &square) {
  auto lanes = static_cast<unsigned>(squares.getLanes());
  Value mask = square.columnsLeft ? emission.getTailMask(lanes, square.columnsLeft) : Value();
  SmallVector<Elements> vectors;
  for (unsigned row = 0; row < lanes; ++row)
    vectors.push_back({row, {square.column}, {}, lanes, mask});
  for (const tile::RowPasses::Entry &entry : passes.entries) {
    tile::ComputeOp compute = entry.compute;
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      if (!emission.getBuffer(compute.getInputs()[input]) || !tile::liesAlong(compute, input, squares.getAcross()))
        continue;
      SmallVector<Value> transposed = transposeOperand(compute, input, square);
      for (auto [elements, value] : llvm::zip_equal(vectors, transposed))
        elements.computed[compute.getInputArgs()[input]] = value;
    }
  }
  for (Elements &elements : vectors) {
    OpBuilder::InsertionGuard guard(builder);
    if (square.rowsLeft) {
      auto branch =
          scf::IfOp::create(builder, location, isBelow(elements.row, square.rowsLeft), /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (const tile::RowPasses::Entry &entry : passes.entries)
      emitValues(entry.compute, elements);
  }
}

/// Lanes are rows: all columns are computed, then interleaved, since a row of the results is contiguous.
void RowEmitter::emitInterleaved(const Square &square) {
  auto lanes = static_cast<unsigned>(squares.getLanes());
  Value mask = square.rowsLeft ? emission.getTailMask(lanes, square.rowsLeft) : Value();
  SmallVector<Elements> columnVectors;
  for (int64_t number = 0; number < squares.getWidth(); ++number) {
    Elements &elements = columnVectors.emplace_back(
        Elements{0, {emission.getConstant(number)}, {}, lanes, mask, static_cast<unsigned>(squares.getAcross())});
    for (const tile::RowPasses::Entry &entry : passes.entries)
      emitMap(entry.compute, elements);
  }
  for (const tile::RowPasses::Entry &entry : passes.entries)
    for (Value result : tile::ComputeOp(entry.compute).getResults())
      if (Value memory = emission.getBuffer(result)) {
        SmallVector<Value> values =
            llvm::map_to_vector(columnVectors, [&](Elements &elements) { return elements.computed.lookup(result); });
        storeInterleaved(memory, cast<graph::TensorType>(result.getType()), values, square);
      }
}

void RowEmitter::storeInterleaved(Value memory, graph::TensorType type, ArrayRef<Value> columns, const Square &square) {
  int64_t lanes = squares.getLanes();
  auto vectorType = VectorType::get({lanes}, tile::getStorageType(type.getElementType()));
  SmallVector<Value> values;
  for (Value value : columns) {
    if (!isa<VectorType>(value.getType()))
      value = vector::BroadcastOp::create(builder, location, VectorType::get({lanes}, value.getType()), value);
    if (value.getType() != vectorType)
      value = arith::ExtUIOp::create(builder, location, vectorType, value);
    values.push_back(value);
  }
  LanePoints points = getPoints(passes.entries.front().compute, Elements{0, {square.column}});
  Value first = emission.getIndex(tile::getLinearIndex(type, points.loops), points.positions);
  Value left = square.rowsLeft ? emission.multiply(square.rowsLeft, emission.getConstant(columns.size())) : Value();
  for (auto [number, value] : llvm::enumerate(interleaveLanes(builder, location, values))) {
    Value done = emission.getConstant(number * lanes), place = emission.add(first, done);
    if (left)
      vector::MaskedStoreOp::create(builder, location, memory, place,
                                    emission.getTailMask(lanes, emission.subtract(left, done)), value);
    else
      vector::StoreOp::create(builder, location, value, memory, place);
  }
}
