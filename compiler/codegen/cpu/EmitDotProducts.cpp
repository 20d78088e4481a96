#include "compiler/codegen/cpu/EmitDotProducts.h"

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/DotProductTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class DotProductEmitter {
public:
  DotProductEmitter(Emission &emission, tile::ContractionForm form, tile::DotProductTilingAttr tiling);
  void emit();

private:
  void emitTile(Value tile);
  void emitBlock(Value block);
  void emitPanel(const PackedBlock &columns, Value block, Value groups, Value panel);
  void emitPanelEpilogue(Value panel, const PackedBlock &columns);
  Value getStep(Value total, Value blocks, int64_t unit);
  Value toGroups(Value steps);
  void emitIf(Value condition, llvm::function_ref<void()> body);
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, builder.getI64Type(), index); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(builder, location, condition, lhs, rhs);
  }
  Value isFirst(Value tile, Value distance, Value number);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm form;
  tile::DotProductTiles tiles;
  ContractionPoints points;
  func::FuncOp kernel;
  Value packedRows, packedColumns, accumulators, columnSums;
  /// Whether rows and columns stay packed for later tiles.
  Value keepsRows, keepsColumns;
  Value rowTotal, columnTotal, depthTotal, rowStep, columnStep, depthStep, columnBlocks, depthBlocks;
  /// Of the current tile: its rows, and whether this worker still has to pack its rows or columns.
  PackedBlock rows;
  Value firstColumn, lastColumn, rowsAreNew, columnsAreNew;
};

} // namespace

DotProductEmitter::DotProductEmitter(Emission &emission, tile::ContractionForm contraction,
                                     tile::DotProductTilingAttr tiling)
    : emission(emission), builder(emission.builder), location(emission.location), form(std::move(contraction)),
      tiles(tile::DotProductTiles::get(form, tiling)), points(emission, form, tiles.unit) {}

void DotProductEmitter::emit() {
  ModuleOp module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  MLIRContext *context = builder.getContext();
  kernel = declareDotProducts(module, tiles.multiplied);
  // The same sizes as in the plan's `scratch`.
  Type elementType = tiles.factors.getElementType(context), sumType = tiles.factors.getSumType(context);
  packedRows = emission.takeScratch(elementType, tiles.packedRows);
  packedColumns = emission.takeScratch(elementType, tiles.packedColumns);
  accumulators = emission.takeScratch(sumType, tiles.sums);
  if (tiles.flipsRows())
    columnSums = emission.takeScratch(sumType, tiles.columnSums);
  rowTotal = emission.getSize(form.getExtent(form.m));
  columnTotal = emission.getSize(form.getExtent(form.n));
  depthTotal = emission.getSize(form.getExtent(form.k));
  columnBlocks = emission.getSize(tiles.columnBlocks);
  depthBlocks = emission.getSize(tiles.depthBlocks);
  Value rowBlocks = emission.getSize(tiles.rowBlocks);
  rowStep = getStep(rowTotal, rowBlocks, tiles.unit);
  columnStep = getStep(columnTotal, columnBlocks, tiles.unit);
  int64_t group = tiles.getStepsOfGroup();
  depthStep = emission.maximum(emission.getConstant(group), getStep(depthTotal, depthBlocks, group));
  Value one = emission.getConstant(1), width = emission.getConstant(tiles.unit);
  keepsRows = compare(arith::CmpIPredicate::eq, depthBlocks, one);
  Value allColumns = emission.multiply(emission.ceilDivide(columnTotal, width), width);
  Value all = emission.multiply(allColumns, emission.multiply(depthBlocks, depthStep));
  Value fit = compare(arith::CmpIPredicate::sle, all, emission.getSize(tiles.packedColumns));
  Value isUsedAgain = compare(arith::CmpIPredicate::sgt, rowBlocks, one);
  keepsColumns = arith::AndIOp::create(builder, location, fit, isUsedAgain);
  bool usesTiles = tiles.tiling.getUnit() == tile::DotProductUnit::tiles;
  if (usesTiles)
    func::CallOp::create(builder, location, declareTileFunction(module, TileFunction::enter));
  emission.forTiles([&](Value tile) { emitTile(tile); });
  if (usesTiles)
    func::CallOp::create(builder, location, declareTileFunction(module, TileFunction::leave));
}

/// The size, in whole units, of that many equal blocks.
Value DotProductEmitter::getStep(Value total, Value blocks, int64_t unit) {
  Value one = emission.getConstant(1), step = emission.getConstant(unit);
  return emission.multiply(emission.ceilDivide(emission.ceilDivide(total, emission.maximum(blocks, one)), step), step);
}

/// An empty sum has one group of zeros.
Value DotProductEmitter::toGroups(Value steps) {
  return emission.maximum(emission.getConstant(1),
                          emission.ceilDivide(steps, emission.getConstant(tiles.getStepsOfGroup())));
}

void DotProductEmitter::emitIf(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// Whether an operand must be packed: the tile `distance` before is another worker's, or `number`, the tile's index
/// among those that share the operand, is 0.
Value DotProductEmitter::isFirst(Value tile, Value distance, Value number) {
  Value isOthers = compare(arith::CmpIPredicate::slt, emission.subtract(tile, distance), emission.begin);
  Value isNew = compare(arith::CmpIPredicate::eq, number, emission.getConstant(0));
  return arith::OrIOp::create(builder, location, isOthers, isNew);
}

void DotProductEmitter::emitTile(Value tile) {
  SmallVector<Expr> grid = form.getExtents(form.outer);
  grid.push_back(tiles.rowBlocks);
  grid.push_back(tiles.columnBlocks);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(points.outer, digits))
    position.value = digit;
  Value rowBlock = digits[digits.size() - 2], columnBlock = digits.back(), zero = emission.getConstant(0);

  rows.first = emission.multiply(rowBlock, rowStep);
  rows.count = emission.maximum(zero, emission.minimum(rowStep, emission.subtract(rowTotal, rows.first)));
  firstColumn = emission.multiply(columnBlock, columnStep);
  lastColumn = emission.minimum(columnTotal, emission.add(firstColumn, columnStep));

  Value always = arith::ConstantIntOp::create(builder, location, 1, 1);
  rowsAreNew = select(keepsRows, isFirst(tile, emission.getConstant(1), columnBlock), always);
  columnsAreNew = select(keepsColumns, isFirst(tile, columnBlocks, rowBlock), always);
  emission.forRange(zero, depthBlocks, 1, [&](Value block) { emitBlock(block); });
}

/// Computes all panels of a tile, for a block of k.
void DotProductEmitter::emitBlock(Value block) {
  Value zero = emission.getConstant(0), width = emission.getConstant(tiles.unit);
  PackedBlock at = rows;
  at.k = emission.multiply(block, depthStep);
  at.depth = emission.maximum(zero, emission.minimum(depthStep, emission.subtract(depthTotal, at.k)));
  Value groups = toGroups(at.depth);
  emitIf(rowsAreNew, [&] { packDotProductRows(emission, form, tiles, points, at, groups, packedRows, zero); });
  // Panels that stay packed have space for all of k.
  Value pitch = emission.multiply(select(keepsColumns, emission.multiply(depthStep, depthBlocks), depthStep), width);
  Value firstKept =
      emission.add(emission.multiply(emission.divide(firstColumn, width), pitch), emission.multiply(at.k, width));
  Value first = select(keepsColumns, firstKept, zero);
  PackedBlock columns = at;
  columns.first = firstColumn;
  columns.count = emission.subtract(lastColumn, firstColumn);
  emitIf(columnsAreNew, [&] {
    packDotProductPanels(emission, form, tiles, points, columns, groups, packedColumns, first, pitch);
    if (tiles.flipsRows())
      sumDotProductColumns(emission, tiles, columns, groups, packedColumns, first, pitch,
                           compare(arith::CmpIPredicate::ne, block, zero), columnSums);
  });
  emission.forRange(firstColumn, lastColumn, tiles.unit, [&](Value column) {
    columns.first = column;
    columns.count = emission.minimum(width, emission.subtract(columnTotal, column));
    Value number = emission.divide(emission.subtract(column, firstColumn), width);
    emitPanel(columns, block, groups, emission.add(first, emission.multiply(number, pitch)));
  });
}

void DotProductEmitter::emitPanel(const PackedBlock &columns, Value block, Value groups, Value panel) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  // With a single block of k, all panels share the space for sums.
  Value distance = emission.multiply(emission.subtract(columns.first, firstColumn), rowStep);
  Value sums = select(keepsRows, zero, distance);
  Value stripBytes = emission.multiply(groups, emission.getConstant(tiles.groupWords * tiles.wordBytes));
  emission.forRange(zero, groups, tiles.tiling.getGroups(), [&](Value group) {
    Value count = emission.minimum(emission.getConstant(tiles.tiling.getGroups()), emission.subtract(groups, group));
    Value start = emission.multiply(group, emission.getConstant(tiles.getGroupElements()));
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(rows.count), toWord(count), emission.getPointer(packedRows, start),
                                    toWord(stripBytes), emission.getPointer(packedColumns, emission.add(panel, start)),
                                    emission.getPointer(accumulators, sums), toWord(emission.add(block, group))});
  });
  Value isLast = compare(arith::CmpIPredicate::eq, emission.add(block, one), depthBlocks);
  emitIf(isLast, [&] { emitPanelEpilogue(sums, columns); });
}

/// By rows of a panel, two vectors of sums at a time.
void DotProductEmitter::emitPanelEpilogue(Value panel, const PackedBlock &columns) {
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  auto rowType = VectorType::get({tiles.unit}, tiles.factors.getSumType(builder.getContext()));
  Value excess;
  if (tiles.flipsRows())
    excess = vector::LoadOp::create(builder, location, rowType, columnSums, columns.first);
  Value lastRow = emission.subtract(rows.count, emission.getConstant(1));
  Value mask = emission.getTailMask(tiles.unit, columns.count);
  emission.forRange(emission.getConstant(0), rows.count, 1, [&](Value row) {
    Value start = emission.add(panel, emission.multiply(row, emission.getConstant(tiles.unit)));
    Value sums = vector::LoadOp::create(builder, location, rowType, accumulators, start);
    if (excess)
      sums = arith::SubIOp::create(builder, location, sums, excess);
    LanePoints at{points.loops, points.outer, points.n, tile::DotProductTiles::unit, mask};
    at.positions.push_back({points.m, emission.add(rows.first, row)});
    at.positions.push_back({points.n, columns.first});
    Value ahead = emission.minimum(emission.add(row, emission.getConstant(tiles.tiling.getPrefetchRows())), lastRow);
    emitEpilogue(emission, form.compute, convertWidth(builder, location, sums, resultType), at,
                 Position{points.m, emission.add(rows.first, ahead)});
  });
}

void freestone::codegen::emitDotProducts(tile::ProgramOp program, Emission &emission) {
  DotProductEmitter(emission, *tile::getContractionWithEpilogue(program),
                    program.getTiling<tile::DotProductTilingAttr>())
      .emit();
}
