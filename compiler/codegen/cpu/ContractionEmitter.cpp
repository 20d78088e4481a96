#include "compiler/codegen/cpu/ContractionEmitter.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

ContractionEmitter::ContractionEmitter(Emission &emission, tile::ContractionForm contraction,
                                       tile::ContractionTiles geometry, int64_t lanes)
    : emission(emission), builder(emission.builder), location(emission.location), form(std::move(contraction)),
      tiles(std::move(geometry)), width(tiles.kernel.getWidth()), points(emission, form, lanes, tiles.wordSteps) {}

void ContractionEmitter::emit() {
  prepare();
  rowTotal = emission.getSize(form.getExtent(form.m));
  columnTotal = emission.getSize(form.getExtent(form.n));
  depthTotal = emission.getSize(form.getDepth(tiles.wordSteps));
  panelCount = emission.getSize(tiles.panelCount);
  depthBlocks = emission.getSize(tiles.depthBlocks);
  Value rowBlocks = emission.getSize(tiles.rowBlocks);
  rowStep = getStep(rowTotal, rowBlocks, tiles.rowUnit);
  depthStep = getStep(depthTotal, depthBlocks, tiles.depthUnit);
  keepsRows = compare(arith::CmpIPredicate::sle, emission.multiply(rowStep, emission.multiply(depthBlocks, depthStep)),
                      emission.getSize(tiles.keptRows));
  groupPanels(rowBlocks);
  begin();
  emission.forTileRuns([&](Value tile) { return emitRun(tile); });
  end();
}

/// Panels of B stay packed for all row blocks, group by group, unless groups are so many that rows of A would be packed
/// more often than columns are saved.
void ContractionEmitter::groupPanels(Value rowBlocks) {
  Value one = emission.getConstant(1), steps = emission.multiply(depthBlocks, depthStep);
  Value ofPanel = emission.maximum(one, emission.multiply(steps, emission.getConstant(width)));
  Value most = emission.divide(emission.getSize(tiles.keptColumns), ofPanel);
  Value groups = emission.maximum(one, emission.ceilDivide(panelCount, emission.maximum(one, most)));
  Value isUsedAgain = compare(arith::CmpIPredicate::sgt, rowBlocks, one);
  keepsColumns = conjoin(conjoin(isUsedAgain, compare(arith::CmpIPredicate::sge, most, one)),
                         compare(arith::CmpIPredicate::sle, groups, tiles.mayGroup ? rowBlocks : one));
  panelsOfGroup =
      tiles.mayGroup ? select(keepsColumns, emission.ceilDivide(panelCount, groups), panelCount) : panelCount;
  tilesOfGroup = emission.multiply(rowBlocks, panelsOfGroup);
}

/// The size, a multiple of `unit`, of that many equal blocks.
Value ContractionEmitter::getStep(Value total, Value blocks, int64_t unit) {
  Value one = emission.getConstant(1), step = emission.getConstant(unit);
  return emission.multiply(emission.ceilDivide(emission.ceilDivide(total, emission.maximum(blocks, one)), step), step);
}

void ContractionEmitter::emitIf(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// Computes the run that begins with a tile, and returns the number of its tiles.
Value ContractionEmitter::emitRun(Value tile) {
  SmallVector<Expr> grid = form.getExtents(form.outer);
  grid.push_back(tiles.rowBlocks * tiles.panelCount);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(points.outer, digits))
    position.value = digit;
  Value zero = emission.getConstant(0), group = emission.divide(digits.back(), tilesOfGroup);
  Value inGroup = emission.subtract(digits.back(), emission.multiply(group, tilesOfGroup));
  firstOfGroup = emission.multiply(group, panelsOfGroup);
  panelsHere = emission.minimum(panelsOfGroup, emission.subtract(panelCount, firstOfGroup));
  firstTile = tile;
  rowBlock = emission.divide(inGroup, panelsHere);
  Value inRow = emission.subtract(inGroup, emission.multiply(rowBlock, panelsHere));
  Value panel = emission.add(firstOfGroup, inRow);
  Value most = emission.minimum(getMostPanels(), emission.subtract(emission.end, tile));
  Value count = emission.minimum(emission.subtract(panelsHere, inRow), most);

  rows.first = emission.multiply(rowBlock, rowStep);
  // The last blocks of an extent may be empty.
  Value rowsLeft = emission.subtract(rowTotal, rows.first);
  rows.count = emission.maximum(zero, emission.minimum(rowStep, rowsLeft));
  firstColumn = emission.multiply(panel, emission.getConstant(width));
  lastColumn =
      emission.minimum(columnTotal, emission.multiply(emission.add(panel, count), emission.getConstant(width)));

  // Packed rows of the previous run are valid only if this worker computed it.
  Value rowsBegin = arith::OrIOp::create(builder, location, compare(arith::CmpIPredicate::eq, tile, emission.begin),
                                         compare(arith::CmpIPredicate::eq, inRow, zero));
  rowsAreNew = select(keepsRows, rowsBegin, arith::ConstantIntOp::create(builder, location, 1, 1));
  endOfNew = getEndOfNew();
  beginRun();
  emission.forRange(zero, depthBlocks, 1, [&](Value block) { emitBlock(block); });
  return count;
}

/// Where columns stay packed, those are not new whose tile in the row block before is this worker's.
Value ContractionEmitter::getEndOfNew() {
  Value others = emission.subtract(emission.add(emission.begin, panelsHere), firstTile);
  Value end = emission.add(firstColumn, emission.multiply(others, emission.getConstant(width)));
  Value isLater = compare(arith::CmpIPredicate::sgt, rowBlock, emission.getConstant(0));
  return select(conjoin(keepsColumns, isLater), end, lastColumn);
}

void ContractionEmitter::emitBlock(Value block) {
  Value zero = emission.getConstant(0);
  PackedBlock at = rows;
  at.k = emission.multiply(block, depthStep);
  at.depth = emission.maximum(zero, emission.minimum(depthStep, emission.subtract(depthTotal, at.k)));
  Value rowsStart = emission.multiply(select(keepsRows, block, zero), emission.multiply(rowStep, getPackedStep()));
  emitIf(rowsAreNew, [&] { packRowsOf(at, rowsStart); });
  multiplyBlock(at, block, rowsStart);
}

void ContractionEmitter::forPanels(const PackedBlock &at, llvm::function_ref<void(const PackedBlock &columns)> body) {
  emission.forRange(firstColumn, lastColumn, width, [&](Value column) {
    PackedBlock columns = at;
    columns.first = column;
    columns.count = emission.minimum(emission.getConstant(width), emission.subtract(columnTotal, column));
    body(columns);
  });
}

/// With a single block of k, all panels share the space for sums.
Value ContractionEmitter::getSums(const PackedBlock &columns) {
  Value isOnly = compare(arith::CmpIPredicate::eq, depthBlocks, emission.getConstant(1));
  return select(isOnly, emission.getConstant(0),
                emission.multiply(emission.subtract(columns.first, firstColumn), rowStep));
}

Value ContractionEmitter::getPanelStart(Value column, Value block) {
  Value panel = emission.subtract(emission.divide(column, emission.getConstant(width)), firstOfGroup);
  Value number = emission.add(emission.multiply(panel, depthBlocks), block);
  return emission.multiply(number, emission.multiply(getPackedStep(), emission.getConstant(width)));
}

std::pair<Value, Value> ContractionEmitter::getNext(const PackedBlock &columns, Value block) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  Value next = emission.add(columns.first, emission.getConstant(width)), nextBlock = emission.add(block, one);
  Value isInside = compare(arith::CmpIPredicate::slt, next, lastColumn);
  Value isLast = compare(arith::CmpIPredicate::eq, nextBlock, depthBlocks);
  Value first = emission.multiply(firstOfGroup, emission.getConstant(width));
  Value end = emission.multiply(emission.add(firstOfGroup, panelsHere), emission.getConstant(width));
  Value tileColumn =
      select(compare(arith::CmpIPredicate::slt, lastColumn, emission.minimum(end, columnTotal)), lastColumn, first);
  Value column = select(isInside, next, select(isLast, tileColumn, firstColumn));
  return {column, select(isInside, block, select(isLast, zero, nextBlock))};
}

void ContractionEmitter::finishPanel(Value sums, const PackedBlock &columns, Value block) {
  Value next = emission.add(block, emission.getConstant(1));
  emitIf(compare(arith::CmpIPredicate::eq, next, depthBlocks), [&] { emitPanelEpilogue(sums, columns); });
}

LanePoints ContractionEmitter::getEpiloguePoints(const PackedBlock &columns, Value row, Value column, unsigned lanes,
                                                 Value mask) {
  LanePoints at{points.loops, points.outer, points.n, lanes, mask};
  at.positions.push_back({points.m, emission.add(rows.first, row)});
  at.positions.push_back({points.n, emission.add(columns.first, column)});
  if (isPanelled())
    keepWithinPanel(emission, at, width);
  return at;
}

void ContractionEmitter::bringEpilogue(const PackedBlock &columns, Value block) {
  Value zero = emission.getConstant(0), next = emission.add(block, emission.getConstant(1));
  emitIf(compare(arith::CmpIPredicate::eq, next, depthBlocks), [&] {
    LanePoints at = getEpiloguePoints(columns, zero, zero, width, Value());
    Value count = emission.minimum(rows.count, emission.getConstant(tiles.prefetchRows));
    emission.forRange(zero, count, 1, [&](Value row) {
      bringEpilogueRow(emission, form.compute, at, Position{points.m, emission.add(rows.first, row)});
    });
  });
}

void ContractionEmitter::emitPanelEpilogue(Value panel, const PackedBlock &columns) {
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  Value lastRow = emission.subtract(rows.count, emission.getConstant(1));
  emission.forRange(emission.getConstant(0), rows.count, 1, [&](Value row) {
    Value start = emission.add(panel, emission.multiply(row, emission.getConstant(width)));
    auto emitLanes = [&](Value column, unsigned lanes, Value mask) {
      Value sums = vector::LoadOp::create(builder, location, VectorType::get({lanes}, tiles.sumType), accumulators,
                                          emission.add(start, column));
      LanePoints at = getEpiloguePoints(columns, row, column, lanes, mask);
      sums = correctSums(sums, emission.add(columns.first, column));
      Value ahead = emission.minimum(emission.add(row, emission.getConstant(tiles.prefetchRows)), lastRow);
      emitEpilogue(emission, form.compute, convertWidth(builder, location, sums, resultType), at,
                   Position{points.m, emission.add(rows.first, ahead)});
    };
    forPanelColumns(emission, columns.count, form.getExtent(form.n), tiles.kernel, emitLanes);
  });
}

void freestone::codegen::emitContraction(tile::ProgramOp program, Emission &emission) {
  tile::ContractionForm form = *tile::getContractionWithEpilogue(program);
  auto getTiles = [&](auto tiling) { return tile::ContractionTiles::get(form, tiling); };
  tile::ContractionTiles tiles =
      llvm::TypeSwitch<Attribute, tile::ContractionTiles>(program.getPlan()->getTiling())
          .Case<tile::ContractionTilingAttr, tile::DotProductTilingAttr, tile::ChoiceAttr>(getTiles);
  (tiles.dotProducts ? makeDotProducts : makeMultiplyAdds)(emission, std::move(form), std::move(tiles))->emit();
}
