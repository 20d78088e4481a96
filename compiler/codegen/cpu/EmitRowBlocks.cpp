#include "compiler/codegen/cpu/CopyPicture.h"
#include "compiler/codegen/cpu/PackRowColumns.h"
#include "compiler/codegen/cpu/RowEmitter.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// `body` for each block of the tile, whose rows and columns are the current ranges there.
void RowEmitter::forResultBlocks(llvm::function_ref<void()> body) {
  using Axis = tile::RowAxis;
  auto [first, end] = getRowsOfTile();
  SmallVector<Expr> extents = blocks->reduction.getExtents();
  emission.forPoints(first, end, grid.rowExtents, [&](Value block, ArrayRef<Value> indices) {
    auto getResults = [&](Value number, unsigned loop, int64_t most) {
      Value size = emission.getConstant(most);
      AxisRange range = getRange({emission.getConstant(0), emission.getSize(extents[loop])}, number, size);
      range.block = number;
      return range;
    };
    matrix.assign(indices.begin(), indices.end() - 2);
    rows.assign(1, Row{matrix});
    rows.front().indices.append(2, emission.getConstant(0));
    axes.enter(Axis::rows, {block, emission.getConstant(1)});
    axes.enter(Axis::resultRows, getResults(indices[blocks->rowLoop], blocks->rowLoop, blocks->mostRows));
    axes.enter(Axis::resultColumns, getResults(indices[blocks->columnLoop], blocks->columnLoop, blocks->mostColumns));
    body();
    for (unsigned axis : {Axis::resultColumns, Axis::resultRows, Axis::rows})
      axes.leave(axis);
  });
}

/// The rows or columns of a block, together if they are a whole step; else columns by two, which read the rows half as
/// often, and what is left one by one.
void RowEmitter::forResults(tile::BlocksAttr node, llvm::function_ref<void()> body) {
  AxisRange range = axes.ranges[node.getAxis()];
  auto walkAt = [&](Value first, Value count) {
    axes.enter(node.getAxis(), {first, count});
    if (node.getAxis() == tile::RowAxis::resultColumns)
      setResults();
    body();
    axes.leave(node.getAxis());
  };
  Value step = emission.getSize(node.getStep()), one = emission.getConstant(1), two = emission.getConstant(2);
  Value first = range.first, end = emission.add(first, range.count);
  bool mayBePairs = node.getAxis() == tile::RowAxis::resultColumns && blocks->mayHavePairs();
  emitIf(
      compare(arith::CmpIPredicate::eq, range.count, step), [&] { walkAt(first, step); },
      [&] {
        Value single = first;
        if (mayBePairs) {
          single = emission.add(first, emission.multiply(emission.divide(range.count, two), two));
          emission.forRange(first, single, two, [&](Value pair) { walkAt(pair, two); });
        }
        emission.forRange(single, end, one, [&](Value left) { walkAt(left, one); });
      });
}

/// The current rows are the results of the current ranges, whose numbers are constants.
void RowEmitter::setResults() {
  const AxisRange &ofRows = axes.ranges[tile::RowAxis::resultRows],
                  &ofColumns = axes.ranges[tile::RowAxis::resultColumns];
  columnsOfBlock = *getConstantIntValue(ofColumns.count);
  rows.clear();
  for (int64_t number = 0; number < *getConstantIntValue(ofRows.count) * columnsOfBlock; ++number) {
    Row &result = rows.emplace_back(Row{matrix});
    result.indices.push_back(emission.add(ofRows.first, emission.getConstant(number / columnsOfBlock)));
    result.indices.push_back(emission.add(ofColumns.first, emission.getConstant(number % columnsOfBlock)));
  }
}

/// The copy of the current matrix, which is made for the first of its blocks that the worker computes.
void RowEmitter::placeMatrix() {
  auto isEqual = [&](Value lhs, Value rhs) { return compare(arith::CmpIPredicate::eq, lhs, rhs); };
  Value zero = emission.getConstant(0), begin = emission.multiply(emission.begin, emission.getSize(grid.rows));
  Value isFirst = conjoin(isEqual(axes.ranges[tile::RowAxis::resultRows].block, zero),
                          isEqual(axes.ranges[tile::RowAxis::resultColumns].block, zero));
  Value isNew =
      arith::OrIOp::create(builder, location, isEqual(axes.ranges[tile::RowAxis::rows].first, begin), isFirst);
  if (blocks->packed)
    placeColumns(isNew);
  else
    emitIf(isNew, [&] { copyWithBorder(); });
}

/// The columns of the packed operand in the current matrix: copied if they are new to the worker, unless steps are
/// neighbours in memory.
void RowEmitter::placeColumns(Value isNew) {
  tile::ComputeOp compute = blocks->reduction;
  const tile::RowBlocks::Packed &packed = *blocks->packed;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  LanePoints origin = getPoints(compute, {}), first = origin;
  first.loops.push_back(Expr::constant(builder.getContext(), 0));
  graph::TensorType type = compute.getInputType(packed.input);
  Expr linear = tile::substituteLoops(tile::getLinearIndex(type, tile::getIndices(compute, packed.input)), first.loops);
  Value inPlace = emission.getPointer(emission.getBuffer(compute.getInputs()[packed.input]),
                                      emission.getIndex(linear, first.positions));
  Value isRun =
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.getSize(packed.stepStride), one);
  unsigned lanes = grid.passes.front().lanes;
  emitIf(
      isRun, [] {}, [&] { emitIf(isNew, [&] { packRowColumns(emission, *blocks, origin, copy, lanes); }); });
  Value pointer = LLVM::SelectOp::create(builder, location, isRun, inPlace, emission.getPointer(copy, zero));
  columns = emission.getMemory(pointer, builder.getF32Type(), emission.getSize(packed.elements));
  pitch = arith::SelectOp::create(builder, location, isRun, emission.getSize(packed.columnStride),
                                  emission.getSize(packed.pitch));
}

/// Copies what the current matrix reads of the operand with a border.
void RowEmitter::copyWithBorder() {
  tile::ComputeOp compute = blocks->reduction;
  const tile::RowBlocks::Picture &picture = *blocks->picture;
  Value lanes = emission.getConstant(grid.passes.front().lanes);
  LanePoints first = getPoints(compute, {});
  first.loops.resize(compute.getNumLoops(), Expr::constant(builder.getContext(), 0));
  PictureBox box;
  box.memory = emission.getBuffer(compute.getInputs()[picture.input]);
  box.type = compute.getInputType(picture.input);
  box.fill = compute.getFill(picture.input);
  for (Expr index : tile::getIndices(compute, picture.input, first.loops))
    box.first.push_back(emission.getIndex(index, first.positions));
  for (auto [count, stride] : llvm::zip_equal(picture.counts, picture.strides)) {
    box.counts.push_back(emission.getSize(count));
    box.strides.push_back(emission.getSize(stride));
  }
  box.stride = picture.stride;
  box.vectors = emission.divide(emission.getSize(picture.run), lanes);
  box.lanes = grid.passes.front().lanes;
  copyPicture(emission, box, copy);
}

bool RowEmitter::dependsOnLoop(unsigned input, unsigned loop) {
  Expr symbol = tile::getLoopSymbol(builder.getContext(), loop);
  return llvm::any_of(tile::getIndices(blocks->reduction, input),
                      [&](Expr index) { return tile::dependsOnSymbol(index, symbol); });
}

/// Loads each operand once for all results of a block that share it.
void RowEmitter::shareLoads(BodyVectorizer &body, const Elements &elements, Loaded &loaded) {
  tile::ComputeOp compute = blocks->reduction;
  unsigned row = elements.row / columnsOfBlock, column = elements.row % columnsOfBlock;
  for (auto [input, argument] : llvm::enumerate(compute.getInputArgs())) {
    if (argument.use_empty())
      continue;
    unsigned place = (dependsOnLoop(input, blocks->rowLoop) ? row + 1 : 0) * 64 +
                     (dependsOnLoop(input, blocks->columnLoop) ? column + 1 : 0);
    Value &values = loaded[{static_cast<unsigned>(input), place}];
    if (!values && blocks->packed && blocks->packed->input == input)
      values = loadColumn(elements);
    else if (!values && blocks->picture && blocks->picture->input == input)
      values = loadCopied(elements);
    else if (!values)
      values = body.get(argument);
    body.set(argument, values);
  }
}

/// Steps of a column of the packed operand.
Value RowEmitter::loadColumn(const Elements &elements) {
  Value column = rows[elements.row].indices.back();
  return loadSteps(columns, emission.add(emission.multiply(column, pitch), elements.loops.back()), elements);
}

/// Steps of the operand with a border.
Value RowEmitter::loadCopied(const Elements &elements) {
  LanePoints points = getPoints(blocks->reduction, elements);
  Expr place = tile::substituteLoops(blocks->picture->place, points.loops);
  return loadSteps(copy, emission.getIndex(place, points.positions), elements);
}

Value RowEmitter::loadSteps(Value memory, Value at, const Elements &elements) {
  auto type = VectorType::get({elements.lanes}, builder.getF32Type());
  if (!elements.mask)
    return vector::LoadOp::create(builder, location, type, memory, at);
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, location, type, memory, at, elements.mask, zeros);
}
