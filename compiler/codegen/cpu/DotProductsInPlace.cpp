#include "compiler/codegen/cpu/DotProductEmitter.h"
#include "compiler/codegen/cpu/InPlaceKernels.h"
#include "compiler/codegen/cpu/PackDotProducts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void DotProductEmitter::prepareInPlace() {
  tile::ReadsInPlace reads = tile::ReadsInPlace::get(form);
  columnsInPlace = tile::MatrixInPlace::getColumns(form);
  if (reads.mayUpdate && tiles.streamedRows > 0)
    updates = declareInPlace(module, {InPlaceKind::updates, layout, {}});
  if (reads.mayKeepRows)
    rowsInPlace = tile::MatrixInPlace::getRows(form);
  if (tile::ReadsInPlace::hasInner(form, tiles.streamedRows, tiles.streamedColumns))
    innerProducts = declareInPlace(module, {InPlaceKind::innerProducts, layout, tiles.directType});
}

/// Few rows are updates, unless both operands lie along k. Few columns are inner products where k is long enough for
/// these to take less time than a panel.
void DotProductEmitter::beginInPlace() {
  Value none = arith::ConstantIntOp::create(builder, location, 0, 1);
  auto isAtMost = [&](Value size, int64_t most) {
    return compare(arith::CmpIPredicate::sle, size, emission.getConstant(most));
  };
  Value areFew = isAtMost(rowTotal, tiles.streamedRows);
  Value one = emission.getConstant(1);
  lieAlongDepth = none;
  if (innerProducts)
    lieAlongDepth = compare(arith::CmpIPredicate::eq, emission.getSize(columnsInPlace->along), one);
  if (updates)
    computesRuns = select(lieAlongDepth, none, areFew);
  if (inPlaceKernel)
    areColumnsFew = isAtMost(columnTotal, tiles.streamedColumns);
  if (computesRuns && areColumnsFew)
    areColumnsFew = select(computesRuns, none, areColumnsFew);
  if (!innerProducts)
    return;
  Value least =
      emission.multiply(columnTotal, emission.getConstant(tile::ReadsInPlace::wordsOfColumn * layout.getStepsOfWord()));
  int64_t mostColumns = std::min(tiles.streamedColumns, tile::ReadsInPlace::mostColumns);
  Value isNarrow = conjoin(isAtMost(columnTotal, mostColumns), compare(arith::CmpIPredicate::sle, least, depthTotal));
  if (computesRuns)
    isNarrow = select(computesRuns, none, isNarrow);
  isInner = arith::OrIOp::create(builder, location, isNarrow, conjoin(areFew, lieAlongDepth));
}

void DotProductEmitter::beginRun() {
  stripRows = emission.getConstant(tile::DotProductLayout::unit);
  if (areColumnsFew)
    keepsRowsInPlace = conjoin(areColumnsFew, areWordsInPlace());
}

/// A row's last word has all of its steps, or some of what follows in memory, which is a later row's. Its products by
/// integers that are zeros are zeros.
Value DotProductEmitter::areWordsInPlace() {
  Value steps = emission.getConstant(layout.getStepsOfWord());
  Value whole = emission.multiply(emission.divide(depthTotal, steps), steps);
  Value areWhole = compare(arith::CmpIPredicate::eq, whole, depthTotal);
  Value end = emission.add(rows.first, rows.count);
  Value areApart = compare(arith::CmpIPredicate::sge, emission.getSize(rowsInPlace->across), depthTotal);
  Value follows = conjoin(areApart, compare(arith::CmpIPredicate::slt, end, rowTotal));
  return conjoin(arith::OrIOp::create(builder, location, areWhole, follows),
                 compare(arith::CmpIPredicate::sgt, depthTotal, emission.getConstant(0)));
}

Value DotProductEmitter::getMaskOfLast(const PackedBlock &block, Value group, Value groups) {
  int64_t steps = layout.getStepsOfWord(), bits = 8 * tile::DotProductLayout::wordBytes;
  Value end = emission.multiply(emission.add(group, groups), emission.getConstant(layout.getStepsOfGroup()));
  Value used = emission.minimum(end, block.depth), ofWord = emission.getConstant(steps);
  Value missing = emission.subtract(emission.multiply(emission.ceilDivide(used, ofWord), ofWord), used);
  Value all =
      arith::ConstantIntOp::create(builder, location, builder.getI64Type(), llvm::maskTrailingOnes<uint64_t>(bits));
  return arith::ShRUIOp::create(builder, location, all,
                                toWord(emission.multiply(missing, emission.getConstant(bits / steps))));
}

Value DotProductEmitter::getMostTiles() {
  Value most = ContractionEmitter::getMostTiles();
  return computesRuns ? select(computesRuns, emission.getConstant(tile::updatedColumns / width), most) : most;
}

void DotProductEmitter::packOrRead(const PackedBlock &columns, Value groups, Value start,
                                   llvm::function_ref<void()> packPanels) {
  auto packColumns = [&] {
    isInner ? emitIf(
                  isInner,
                  [&] {
                    emitIf(
                        lieAlongDepth, [] {},
                        [&] {
                          packDotProductColumns(emission, form, layout, points, columns, groups, packedColumns, start);
                        });
                  },
                  packPanels)
            : packPanels();
  };
  computesRuns ? emitIf(
                     computesRuns, [] {}, packColumns)
               : packColumns();
}

void DotProductEmitter::multiplyRun(llvm::function_ref<void()> byPanel) {
  if (computesRuns)
    emitIf(computesRuns, [&] { emitUpdates(); });
  byPanel();
}

void DotProductEmitter::multiplyPanel(const Panel &columns, Value sums) {
  auto multiply = [&] {
    isInner ? emitIf(
                  isInner, [&] { multiplyInner(columns, sums); }, [&] { multiplyPacked(columns, sums); })
            : multiplyPacked(columns, sums);
  };
  computesRuns ? emitIf(
                     computesRuns, [] {}, multiply)
               : multiply();
}

Value DotProductEmitter::getElement(const tile::MatrixInPlace &matrix, sym::Expr across, Value place, Value step) {
  Positions positions = points.outer;
  positions.push_back({across, place});
  positions.push_back({points.k, step});
  return emission.getPointer(emission.getBuffer(form.compute.getInputs()[matrix.input]),
                             emission.getIndex(points.getLinearIndex(form, matrix.input), positions));
}

Value DotProductEmitter::getBytes(sym::Expr elements) {
  return toWord(emission.getSize(elements * (tile::DotProductLayout::wordBytes / layout.getStepsOfWord())));
}

Value DotProductEmitter::getExcess(Value column) {
  if (layout.flipsRows())
    return emission.getPointer(columnSums, column);
  return getNull();
}

void DotProductEmitter::emitUpdates() {
  PackedBlock block = getRows();
  // Whatever the run, so that its bits are the same.
  Value areHeld = compare(arith::CmpIPredicate::sle, columnTotal, emission.getConstant(layout.getStepsOfGroup()));
  Value held = arith::ExtUIOp::create(builder, location, builder.getI64Type(), areHeld);
  func::CallOp::create(
      builder, location, updates,
      ValueRange{toWord(block.count), toWord(emission.subtract(lastPlace, firstPlace)), toWord(block.depth),
                 emission.getPointer(packedRows, rowsStart), getElement(*columnsInPlace, points.n, firstPlace, block.k),
                 getBytes(columnsInPlace->along), emission.getPointer(accumulators, emission.getConstant(0)),
                 toWord(getBlock()), getExcess(firstPlace), held});
}

void DotProductEmitter::multiplyInner(const Panel &columns, Value sums) {
  constexpr int64_t rowBytes = tile::DotProductLayout::rowWords * tile::DotProductLayout::wordBytes;
  Value first = emission.add(rows.first, columns.piece.firstRow), group = emission.getConstant(rowBytes);
  Value inPlace = getElement(*columnsInPlace, points.n, columns.first, columns.k);
  Value packed = emission.getPointer(packedColumns, getCopy());
  Value ofStrip = emission.getConstant(layout.unit * rowBytes);
  SmallVector<Value> operands = {toWord(columns.piece.rowCount),
                                 toWord(columns.count),
                                 toWord(columns.depth),
                                 getElement(*rowsInPlace, points.m, first, columns.k),
                                 getBytes(rowsInPlace->across),
                                 select(lieAlongDepth, inPlace, packed),
                                 select(lieAlongDepth, getBytes(columnsInPlace->across), toWord(group)),
                                 toWord(select(lieAlongDepth, group, ofStrip)),
                                 emission.getPointer(accumulators, sums),
                                 toWord(getBlock()),
                                 getExcess(columns.first)};
  if (tiles.directType) {
    auto [result, pitch] = getResults(columns, arith::ConstantIntOp::create(builder, location, 1, 1));
    operands.append({result, pitch});
  }
  func::CallOp::create(builder, location, innerProducts, operands);
}
