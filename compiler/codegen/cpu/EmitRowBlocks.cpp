#include "compiler/codegen/cpu/EmitRowBlocks.h"

#include "compiler/codegen/cpu/LaneReduction.h"
#include "compiler/codegen/cpu/PackRowColumns.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class RowBlockEmitter {
public:
  RowBlockEmitter(Emission &emission, tile::RowPasses rowPasses, tile::RowBlocks rowBlocks, tile::RowsTilingAttr tiling)
      : emission(emission), builder(emission.builder), location(emission.location), passes(std::move(rowPasses)),
        blocks(std::move(rowBlocks)), tiling(tiling), lanes(tiling.getLanes().front()),
        reduction(emission, blocks.reduction, lanes) {}

  void emit();

private:
  /// Neighbouring results: so many rows and columns from the first ones.
  struct Results {
    Value row, column;
    int64_t rows, columns;
  };

  void emitBlock(ArrayRef<Value> digits);
  void emitBranch(Value isWhole, llvm::function_ref<void()> whole, llvm::function_ref<void()> rest);
  void emitResults(const Results &results);
  SmallVector<Value> emitSteps(const Results &results, Value &from, int64_t vectors, ValueRange accumulators);
  SmallVector<Value> emitTail(const Results &results, Value from, ValueRange accumulators);
  SmallVector<Value> emitVector(const Results &results, Value step, Value mask, ValueRange accumulators);
  void emitResult(Value row, Value column, ValueRange accumulators);
  void setOperands(BodyVectorizer &body, Value column, Value step, Value mask, unsigned row, unsigned number,
                   DenseMap<std::pair<unsigned, unsigned>, Value> &shared);
  LanePoints getPoint(Value row, Value column);
  void placeColumns(Value isNew);
  bool dependsOnLoop(unsigned input, unsigned loop);
  Value getExtent(unsigned loop) { return emission.getSize(blocks.reduction.getExtents()[loop]); }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::RowPasses passes;
  tile::RowBlocks blocks;
  tile::RowsTilingAttr tiling;
  unsigned lanes;
  LaneReduction reduction;
  /// Numbers of the current matrix.
  SmallVector<Value> matrix;
  /// The copy of the packed operand; the columns to read: of the copy or in place, and elements from one to the next.
  Value copy, columns, pitch;
};

} // namespace

void RowBlockEmitter::emit() {
  if (blocks.packed)
    copy = emission.takeScratch(builder.getF32Type(), blocks.packed->elements);
  SmallVector<Expr> grid(blocks.outer);
  grid.append({blocks.rowBlocks, blocks.columnBlocks});
  Value perTile = emission.getSize(tiling.getRows()), count = emission.getSize(blocks.getCount());
  Value begin = emission.multiply(emission.begin, perTile);
  Value end = emission.minimum(emission.multiply(emission.end, perTile), count);
  emission.forRange(begin, end, 1, [&](Value block) {
    SmallVector<Value> digits = emission.unravel(block, grid);
    matrix.assign(digits.begin(), digits.end() - 2);
    if (blocks.packed) {
      auto isEqual = [&](Value lhs, Value rhs) -> Value {
        return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, lhs, rhs);
      };
      Value zero = emission.getConstant(0);
      Value isFirst =
          arith::AndIOp::create(builder, location, isEqual(digits.end()[-2], zero), isEqual(digits.back(), zero));
      placeColumns(arith::OrIOp::create(builder, location, isEqual(block, begin), isFirst));
    }
    emitBlock(ArrayRef(digits).take_back(2));
  });
}

/// The columns of the packed operand in the current matrix: copied if they are new to the worker, unless steps are
/// neighbours in memory.
void RowBlockEmitter::placeColumns(Value isNew) {
  tile::ComputeOp compute = blocks.reduction;
  const tile::RowBlocks::Packed &packed = *blocks.packed;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  LanePoints first = getPoint(zero, zero);
  first.loops.push_back(Expr::constant(builder.getContext(), 0));
  graph::TensorType type = compute.getInputType(packed.input);
  Expr linear = tile::substituteLoops(tile::getLinearIndex(type, tile::getIndices(compute, packed.input)), first.loops);
  Value inPlace = emission.getPointer(emission.getBuffer(compute.getInputs()[packed.input]),
                                      emission.getIndex(linear, first.positions));
  Value isRun =
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.getSize(packed.stepStride), one);
  auto select = [&](Value lhs, Value rhs) -> Value {
    return arith::SelectOp::create(builder, location, isRun, lhs, rhs);
  };
  emitBranch(
      isRun, [] {},
      [&] { emitBranch(isNew, [&] { packRowColumns(emission, blocks, getPoint(zero, zero), copy, lanes); }, [] {}); });
  Value pointer = LLVM::SelectOp::create(builder, location, isRun, inPlace, emission.getPointer(copy, zero));
  columns = emission.getMemory(pointer, builder.getF32Type(), emission.getSize(packed.elements));
  pitch = select(emission.getSize(packed.columnStride), emission.getSize(packed.pitch));
}

void RowBlockEmitter::emitBranch(Value isWhole, llvm::function_ref<void()> whole, llvm::function_ref<void()> rest) {
  auto branch = scf::IfOp::create(builder, location, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  whole();
  builder.setInsertionPointToStart(branch.elseBlock());
  rest();
}

/// The block of the given numbers among rows and columns: whole, or its rows or columns one by one.
void RowBlockEmitter::emitBlock(ArrayRef<Value> digits) {
  int64_t mostRows = tiling.getBlockRows(), mostColumns = tiling.getBlockColumns();
  auto getRange = [&](Value number, int64_t most, unsigned loop) {
    Value first = emission.multiply(number, emission.getConstant(most));
    return std::pair(first, emission.minimum(emission.add(first, emission.getConstant(most)), getExtent(loop)));
  };
  auto [row, rowEnd] = getRange(digits[0], mostRows, blocks.rowLoop);
  auto [column, columnEnd] = getRange(digits[1], mostColumns, blocks.columnLoop);
  auto isWhole = [&](Value first, Value end, int64_t most) -> Value {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.subtract(end, first),
                                 emission.getConstant(most));
  };
  auto emitColumns = [&, column = column, columnEnd = columnEnd](Value firstRow, int64_t rows) {
    emitBranch(
        isWhole(column, columnEnd, mostColumns), [&] { emitResults({firstRow, column, rows, mostColumns}); },
        [&] {
          emission.forRange(column, columnEnd, 1, [&](Value single) { emitResults({firstRow, single, rows, 1}); });
        });
  };
  emitBranch(
      isWhole(row, rowEnd, mostRows), [&, row = row] { emitColumns(row, mostRows); },
      [&, row = row, rowEnd = rowEnd] {
        emission.forRange(row, rowEnd, 1, [&](Value single) { emitColumns(single, 1); });
      });
}

void RowBlockEmitter::emitResults(const Results &results) {
  int64_t points = results.rows * results.columns;
  // As many sums as the tiling keeps for one result hide the latency of additions.
  int64_t vectors = std::max<int64_t>(1, llvm::divideCeil(tiling.getAccumulators().front(), points));
  SmallVector<Value> start = reduction.getStart(), accumulators;
  for (int64_t number = 0; number < vectors * points; ++number)
    llvm::append_range(accumulators, start);
  Value step = emission.getConstant(0);
  if (vectors > 1)
    accumulators = emitSteps(results, step, vectors, accumulators);
  accumulators = emitSteps(results, step, 1, accumulators);
  accumulators = emitTail(results, step, accumulators);

  size_t each = start.size();
  for (int64_t point = 0; point < points; ++point) {
    auto getSums = [&](int64_t vector) { return ArrayRef(accumulators).slice((vector * points + point) * each, each); };
    SmallVector<Value> sums = llvm::to_vector(getSums(0));
    for (int64_t vector = 1; vector < vectors; ++vector)
      sums = reduction.emitCombined(sums, getSums(vector));
    auto advance = [&](Value first, int64_t distance) { return emission.add(first, emission.getConstant(distance)); };
    emitResult(advance(results.row, point / results.columns), advance(results.column, point % results.columns), sums);
  }
}

/// Whole vectors, so many in each turn, from step `from` on, which advances past them. Returns the accumulators of all
/// vectors: those of one stand together, result by result.
SmallVector<Value> RowBlockEmitter::emitSteps(const Results &results, Value &from, int64_t vectors,
                                              ValueRange accumulators) {
  size_t each = results.rows * results.columns * blocks.reduction.getNumResults();
  Value width = emission.getConstant(vectors * lanes), left = emission.subtract(getExtent(blocks.reducedLoop), from);
  Value end = emission.add(from, emission.multiply(emission.divide(left, width), width));
  auto loop = scf::ForOp::create(builder, location, from, end, width, accumulators.take_front(vectors * each));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value step = emission.add(loop.getInductionVar(), emission.getConstant(vector * lanes));
      llvm::append_range(next, emitVector(results, step, {}, loop.getRegionIterArgs().slice(vector * each, each)));
    }
    scf::YieldOp::create(builder, location, next);
  }
  from = end;
  SmallVector<Value> behind = llvm::to_vector_of<Value>(loop.getResults());
  llvm::append_range(behind, accumulators.drop_front(vectors * each));
  return behind;
}

/// The steps that fill no vector.
SmallVector<Value> RowBlockEmitter::emitTail(const Results &results, Value from, ValueRange accumulators) {
  size_t each = results.rows * results.columns * blocks.reduction.getNumResults();
  ValueRange first = accumulators.take_front(each);
  Value left = emission.subtract(getExtent(blocks.reducedLoop), from);
  Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, emission.getConstant(0));
  auto branch = scf::IfOp::create(builder, location, first.getTypes(), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, location, emitVector(results, from, emission.getTailMask(lanes, left), first));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, location, first);
  SmallVector<Value> behind = llvm::to_vector_of<Value>(branch.getResults());
  llvm::append_range(behind, accumulators.drop_front(each));
  return behind;
}

/// One vector of steps of all results.
SmallVector<Value> RowBlockEmitter::emitVector(const Results &results, Value step, Value mask,
                                               ValueRange accumulators) {
  size_t each = blocks.reduction.getNumResults();
  DenseMap<std::pair<unsigned, unsigned>, Value> shared;
  SmallVector<Value> next;
  for (int64_t row = 0; row < results.rows; ++row) {
    for (int64_t number = 0; number < results.columns; ++number) {
      Value column = emission.add(results.column, emission.getConstant(number));
      LanePoints points = getPoint(emission.add(results.row, emission.getConstant(row)), column);
      Expr symbol = emission.getPositionSymbol("step");
      points.loops.push_back(symbol);
      points.positions.push_back({symbol, step});
      points.lanes = lanes;
      points.mask = mask;
      if (lanes > 1)
        points.lane = symbol;
      BodyVectorizer body(emission, blocks.reduction, std::move(points));
      setOperands(body, column, step, mask, row, number, shared);
      llvm::append_range(next, reduction.emitStep(body, accumulators.slice(next.size(), each), mask));
    }
  }
  return next;
}

bool RowBlockEmitter::dependsOnLoop(unsigned input, unsigned loop) {
  Expr symbol = tile::getLoopSymbol(builder.getContext(), loop);
  return llvm::any_of(tile::getIndices(blocks.reduction, input), [&](Expr index) { return dependsOn(index, symbol); });
}

/// Loads each operand once for all results of a block that share it.
void RowBlockEmitter::setOperands(BodyVectorizer &body, Value column, Value step, Value mask, unsigned row,
                                  unsigned number, DenseMap<std::pair<unsigned, unsigned>, Value> &shared) {
  tile::ComputeOp compute = blocks.reduction;
  for (auto [input, argument] : llvm::enumerate(compute.getInputArgs())) {
    if (argument.use_empty())
      continue;
    unsigned place = (dependsOnLoop(input, blocks.rowLoop) ? row + 1 : 0) * 64 +
                     (dependsOnLoop(input, blocks.columnLoop) ? number + 1 : 0);
    Value &values = shared[{static_cast<unsigned>(input), place}];
    if (!values && blocks.packed && blocks.packed->input == input) {
      Value at = emission.add(emission.multiply(column, pitch), step);
      auto type = VectorType::get({lanes}, builder.getF32Type());
      if (mask) {
        Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
        values = vector::MaskedLoadOp::create(builder, location, type, columns, at, mask, zeros);
      } else {
        values = vector::LoadOp::create(builder, location, type, columns, at);
      }
    } else if (!values) {
      values = body.get(argument);
    }
    body.set(argument, values);
  }
}

/// The point of the row loops.
LanePoints RowBlockEmitter::getPoint(Value row, Value column) {
  LanePoints points;
  SmallVector<Value> indices(matrix);
  indices.append({row, column});
  for (auto [number, value] : llvm::enumerate(indices)) {
    Expr symbol = emission.getPositionSymbol("row" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  return points;
}

/// Stores a result, and computes what follows from it.
void RowBlockEmitter::emitResult(Value row, Value column, ValueRange accumulators) {
  LanePoints point = getPoint(row, column);
  DenseMap<Value, Value> computed;
  auto store = [&](tile::ComputeOp compute, BodyVectorizer &body, ValueRange values) {
    for (auto [result, value] : llvm::zip_equal(compute.getResults(), values)) {
      computed[result] = value;
      if (Value memory = emission.getBuffer(result))
        body.store(value, cast<graph::TensorType>(result.getType()), memory);
    }
  };
  BodyVectorizer sums(emission, blocks.reduction, point);
  store(blocks.reduction, sums, reduction.emitResults(point, accumulators, getExtent(blocks.reducedLoop)));
  for (const tile::RowPasses::Entry &entry : llvm::drop_begin(passes.entries)) {
    tile::ComputeOp compute = entry.compute;
    BodyVectorizer body(emission, compute, point);
    for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      if (Value value = computed.lookup(input))
        body.set(argument, value);
    SmallVector<Value> yielded = body.getYielded();
    store(compute, body, yielded);
  }
}

void codegen::emitRowBlocks(tile::ProgramOp program, Emission &emission) {
  auto tiling = program.getTiling<tile::RowsTilingAttr>();
  std::string why;
  tile::RowPasses passes = *tile::getRowPasses(program, tiling.getRowLoops(), why);
  tile::RowBlocks blocks = *tile::RowBlocks::get(passes, tiling, why);
  RowBlockEmitter(emission, std::move(passes), std::move(blocks), tiling).emit();
}
