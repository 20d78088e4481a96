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

void RowEmitter::emitResultBlocks() {
  if (blocks->packed || blocks->picture)
    copy = emission.takeScratch(builder.getF32Type(), blocks->getCopied());
  SmallVector<Expr> extents(blocks->outer);
  extents.append({blocks->rowBlocks, blocks->columnBlocks});
  Value perTile = emission.getSize(grid.rows), count = emission.getSize(blocks->getCount());
  Value begin = emission.multiply(emission.begin, perTile);
  Value end = emission.minimum(emission.multiply(emission.end, perTile), count);
  emission.forRange(begin, end, 1, [&](Value block) {
    SmallVector<Value> matrix = emission.unravel(block, extents);
    Value columnBlock = matrix.pop_back_val(), rowBlock = matrix.pop_back_val();
    if (blocks->packed || blocks->picture) {
      auto isEqual = [&](Value lhs, Value rhs) -> Value {
        return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, lhs, rhs);
      };
      Value zero = emission.getConstant(0);
      Value isFirst = arith::AndIOp::create(builder, location, isEqual(rowBlock, zero), isEqual(columnBlock, zero));
      Value isNew = arith::OrIOp::create(builder, location, isEqual(block, begin), isFirst);
      if (blocks->packed)
        placeColumns(matrix, isNew);
      else
        emitIf(isNew, [&] { copyWithBorder(matrix); });
    }
    emitResultBlock(matrix, rowBlock, columnBlock);
  });
}

/// The columns of the packed operand in the current matrix: copied if they are new to the worker, unless steps are
/// neighbours in memory.
void RowEmitter::placeColumns(ArrayRef<Value> matrix, Value isNew) {
  tile::ComputeOp compute = blocks->reduction;
  const tile::RowBlocks::Packed &packed = *blocks->packed;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  rows.assign(1, Row{llvm::to_vector(matrix)});
  rows.front().indices.append({zero, zero});
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
void RowEmitter::copyWithBorder(ArrayRef<Value> matrix) {
  tile::ComputeOp compute = blocks->reduction;
  const tile::RowBlocks::Picture &picture = *blocks->picture;
  Value zero = emission.getConstant(0), lanes = emission.getConstant(grid.passes.front().lanes);
  rows.assign(1, Row{llvm::to_vector(matrix)});
  rows.front().indices.append({zero, zero});
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

/// A block of results: whole, or its rows or columns one by one.
void RowEmitter::emitResultBlock(ArrayRef<Value> matrix, Value rowBlock, Value columnBlock) {
  SmallVector<Expr> extents = blocks->reduction.getExtents();
  auto forParts = [&](Value number, int64_t most, unsigned loop, llvm::function_ref<void(Value, int64_t)> body) {
    Value first = emission.multiply(number, emission.getConstant(most));
    Value end = emission.minimum(emission.add(first, emission.getConstant(most)), emission.getSize(extents[loop]));
    Value isWhole = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.subtract(end, first),
                                          emission.getConstant(most));
    emitIf(
        isWhole, [&] { body(first, most); },
        [&] { emission.forRange(first, end, 1, [&](Value single) { body(single, 1); }); });
  };
  forParts(rowBlock, blocks->mostRows, blocks->rowLoop, [&](Value row, int64_t rowCount) {
    forParts(columnBlock, blocks->mostColumns, blocks->columnLoop, [&](Value column, int64_t columnCount) {
      rows.clear();
      columnsOfBlock = columnCount;
      for (int64_t number = 0; number < rowCount * columnCount; ++number) {
        Row &result = rows.emplace_back(Row{llvm::to_vector(matrix)});
        result.indices.push_back(emission.add(row, emission.getConstant(number / columnCount)));
        result.indices.push_back(emission.add(column, emission.getConstant(number % columnCount)));
      }
      for (unsigned pass = 0; pass <= passes.passes; ++pass)
        emitRows(pass);
    });
  });
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
