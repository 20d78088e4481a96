#include "compiler/codegen/cpu/EmitContraction.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/UpdateKernel.h"
#include "compiler/plan/ContractionTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class ContractionEmitter {
public:
  ContractionEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles);
  void emit();

private:
  void groupPanels(Value rowBlocks, Value steps);
  Value emitRun(Value tile);
  void emitBlock(Value block);
  void emitPanels(const PackedBlock &at, Value block, Value rowsStart);
  void emitPanel(const PackedBlock &columns, Value block, Value rowsStart);
  void emitUpdate(PackedBlock columns, Value block, Value rowsStart);
  Value getDirectOutput(Value column);
  Value getPanel(const PackedBlock &columns, Value block);
  /// The address of a panel's first row, for prefetching, and the bytes from one row to the next.
  struct RowsAhead {
    Value first, pitch;
  };
  RowsAhead getAhead(const PackedBlock &columns, Value block);
  RowsAhead getStored(const tile::StreamedInput &input, Value column, Value step);
  std::pair<Value, Value> getNext(const PackedBlock &columns, Value block);
  void emitPanelEpilogue(Value panel, const PackedBlock &columns);
  Value getLinear(unsigned input, Value column, Value step);
  Value getPanelStart(Value column, Value block);
  Value getStep(Value total, Value blocks, int64_t unit);
  Value areColumnsNew(Value column);
  void emitIf(Value condition, llvm::function_ref<void()> body);
  /// Whether the result is stored in packed panels of columns.
  bool isPanelled() {
    auto panels = dyn_cast_or_null<tile::PanelsAttr>(form.compute.getResultType(0).getLayout());
    return panels && panels.getWidth() == width &&
           ArrayRef(form.n) == ArrayRef({static_cast<unsigned>(panels.getAxis())});
  }
  /// Whether few rows of A may be updates of a run's results at once, which must then be in place.
  bool mayUpdate() { return streamedInput && directStride; }
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, builder.getI64Type(), index); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value conjoin(Value lhs, Value rhs) { return arith::AndIOp::create(builder, location, lhs, rhs); }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(builder, location, condition, lhs, rhs);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm form;
  tile::ContractionTiles tiles;
  tile::MicroKernelAttr kernelShape;
  int64_t width;
  ContractionPoints points;
  std::optional<unsigned> packedInput;
  /// B, if few rows of A read its panels in place.
  std::optional<tile::StreamedInput> streamedInput;
  /// The row stride of the result, if the micro-kernel can write it directly.
  std::optional<Expr> directStride;
  func::FuncOp kernel, streamingKernel, updateKernel;
  Value packedRows, packedColumns, accumulators;
  /// Whether rows and columns stay packed for later tiles; whether columns are read in place, and by updates.
  Value keepsRows, keepsColumns, streamsColumns, updatesRows;
  Value rowTotal, columnTotal, depthTotal, rowStep, depthStep, panelCount, depthBlocks;
  /// The panels that stay packed together, all if none do, and the tiles of all of their row blocks.
  Value panelsOfGroup, tilesOfGroup;
  /// Of the current run: its first tile, its group's panels, its rows and columns, and whether this worker still has to
  /// pack its rows.
  Value firstTile, rowBlock, firstOfGroup, panelsHere;
  PackedBlock rows;
  Value height, firstColumn, lastColumn, rowsAreNew;
};

} // namespace

ContractionEmitter::ContractionEmitter(Emission &emission, tile::ContractionForm contraction,
                                       tile::ContractionTiles geometry)
    : emission(emission), builder(emission.builder), location(emission.location), form(std::move(contraction)),
      tiles(geometry), kernelShape(tiles.tiling.getKernel()), width(kernelShape.getWidth()),
      points(emission, form, kernelShape.getLanes(), tiles.tiling.getWordSteps()),
      packedInput(form.getPackedInput(width)) {
  graph::TensorType type = form.compute.getResultType(0);
  Expr linear = tile::getLinearIndex(type, ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  std::optional<Expr> columnStride = getStride(linear, points.n);
  // The micro-kernel's columns are those of one panel.
  if (isPanelled())
    columnStride = Expr::constant(builder.getContext(), 1);
  if (tiles.tiling.getStreamedRows() > 0)
    streamedInput = form.getStreamedInput();
  bool alone = emission.program.getComputes().size() == 1 && emission.program.getResultTypes().size() == 1;
  if (alone && type.getElementType() == form.elementType && columnStride && columnStride->isConstant(1))
    directStride = getStride(linear, points.m);
}

void ContractionEmitter::emit() {
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  kernel = declareKernel(module, getKernelKind(tiles.tiling), form.elementType, kernelShape);
  if (streamedInput) {
    streamingKernel = declareKernel(module, KernelKind::stream, form.elementType, kernelShape);
    updateKernel = declareKernel(module, KernelKind::update, form.elementType, kernelShape);
  }
  // The same sizes as in the plan's `scratch`.
  packedRows = emission.takeScratch(form.elementType, tiles.packedRows);
  if (!packedInput)
    packedColumns = emission.takeScratch(form.elementType, tiles.packedColumns);
  if (!directStride)
    accumulators = emission.takeScratch(form.elementType, tiles.sums);
  rowTotal = emission.getSize(form.getExtent(form.m));
  columnTotal = emission.getSize(form.getExtent(form.n));
  depthTotal = emission.getSize(form.getDepth(tiles.tiling.getWordSteps()));
  panelCount = emission.getSize(tiles.panelCount);
  depthBlocks = emission.getSize(tiles.depthBlocks);
  Value rowBlocks = emission.getSize(tiles.rowBlocks);
  rowStep = getStep(rowTotal, rowBlocks, 1);
  depthStep = getStep(depthTotal, depthBlocks, tiles.depthUnit);
  Value steps = emission.multiply(depthBlocks, depthStep);
  keepsRows = compare(arith::CmpIPredicate::sle, emission.multiply(rowStep, steps), emission.getSize(tiles.keptRows));
  groupPanels(rowBlocks, steps);
  streamsColumns = compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(tiles.tiling.getStreamedRows()));
  updatesRows =
      conjoin(streamsColumns, compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(mostUpdatedRows)));
  emission.forTileRuns([&](Value tile) { return emitRun(tile); });
}

/// Panels of B stay packed for all row blocks, group by group, unless groups are so many that rows of A would be packed
/// more often than columns are saved.
void ContractionEmitter::groupPanels(Value rowBlocks, Value steps) {
  Value one = emission.getConstant(1);
  Value ofPanel = emission.maximum(one, emission.multiply(steps, emission.getConstant(width)));
  Value most = emission.divide(emission.getSize(tiles.keptColumns), ofPanel);
  Value groups = emission.maximum(one, emission.ceilDivide(panelCount, emission.maximum(one, most)));
  Value isUsedAgain = compare(arith::CmpIPredicate::sgt, rowBlocks, one);
  keepsColumns = conjoin(conjoin(isUsedAgain, compare(arith::CmpIPredicate::sge, most, one)),
                         compare(arith::CmpIPredicate::sle, groups, rowBlocks));
  panelsOfGroup = packedInput ? panelCount : select(keepsColumns, emission.ceilDivide(panelCount, groups), panelCount);
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
  Value most = emission.getSize(tiles.panels);
  if (mayUpdate())
    most = select(updatesRows, emission.getConstant(updatedColumns / width), most);
  most = emission.minimum(most, emission.subtract(emission.end, tile));
  Value count = emission.minimum(emission.subtract(panelsHere, inRow), most);

  rows.first = emission.multiply(rowBlock, rowStep);
  // The last blocks of an extent may be empty.
  Value rowsLeft = emission.subtract(rowTotal, rows.first);
  rows.count = emission.maximum(zero, emission.minimum(rowStep, rowsLeft));
  height = getBlockHeight(emission, rows.count, kernelShape.getRows(), 1);
  firstColumn = emission.multiply(panel, emission.getConstant(width));
  lastColumn =
      emission.minimum(columnTotal, emission.multiply(emission.add(panel, count), emission.getConstant(width)));

  // Packed rows of the previous run are valid only if this worker computed it.
  Value rowsBegin = arith::OrIOp::create(builder, location, compare(arith::CmpIPredicate::eq, tile, emission.begin),
                                         compare(arith::CmpIPredicate::eq, inRow, zero));
  rowsAreNew = select(keepsRows, rowsBegin, arith::ConstantIntOp::create(builder, location, 1, 1));
  emission.forRange(zero, depthBlocks, 1, [&](Value block) { emitBlock(block); });
  return count;
}

/// Whether this worker still has to pack a panel of the run: unless it computed the tile of the same columns in the row
/// block before.
Value ContractionEmitter::areColumnsNew(Value column) {
  Value number = emission.divide(emission.subtract(column, firstColumn), emission.getConstant(width));
  Value above = emission.subtract(emission.add(firstTile, number), panelsHere);
  Value begins = arith::OrIOp::create(builder, location, compare(arith::CmpIPredicate::slt, above, emission.begin),
                                      compare(arith::CmpIPredicate::eq, rowBlock, emission.getConstant(0)));
  return select(keepsColumns, begins, arith::ConstantIntOp::create(builder, location, 1, 1));
}

/// Computes all panels of a run, for a block of k.
void ContractionEmitter::emitBlock(Value block) {
  Value zero = emission.getConstant(0);
  PackedBlock at = rows;
  at.k = emission.multiply(block, depthStep);
  at.depth = emission.maximum(zero, emission.minimum(depthStep, emission.subtract(depthTotal, at.k)));
  Value rowsStart = emission.multiply(select(keepsRows, block, zero), emission.multiply(rowStep, depthStep));
  emitIf(rowsAreNew,
         [&] { packRows(emission, form, points, at, packedRows, rowsStart, height, kernelShape.getRows()); });
  if (!mayUpdate())
    return emitPanels(at, block, rowsStart);
  auto branch = scf::IfOp::create(builder, location, updatesRows, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitUpdate(at, block, rowsStart);
  builder.setInsertionPointToStart(branch.elseBlock());
  emitPanels(at, block, rowsStart);
}

void ContractionEmitter::emitPanels(const PackedBlock &at, Value block, Value rowsStart) {
  emission.forRange(firstColumn, lastColumn, width, [&](Value column) {
    PackedBlock columns = at;
    columns.first = column;
    columns.count = emission.minimum(emission.getConstant(width), emission.subtract(columnTotal, column));
    emitPanel(columns, block, rowsStart);
  });
}

/// Computes a block of k for all columns of the run at once.
void ContractionEmitter::emitUpdate(PackedBlock columns, Value block, Value rowsStart) {
  columns.first = firstColumn;
  columns.count = emission.subtract(lastColumn, firstColumn);
  auto [right, pitch] = getStored(*streamedInput, columns.first, columns.k);
  func::CallOp::create(builder, location, updateKernel,
                       ValueRange{toWord(rows.count), toWord(columns.count), toWord(columns.depth),
                                  emission.getPointer(packedRows, rowsStart), right, toWord(pitch),
                                  getDirectOutput(columns.first), toWord(emission.getSize(*directStride)),
                                  toWord(block)});
}

Value ContractionEmitter::getDirectOutput(Value column) {
  Positions positions = points.outer;
  positions.push_back({points.m, rows.first});
  positions.push_back({points.n, column});
  Expr linear = tile::getLinearIndex(form.compute.getResultType(0),
                                     ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  return emission.getPointer(emission.getResultBuffer(0), emission.getIndex(linear, positions));
}

void ContractionEmitter::emitPanel(const PackedBlock &columns, Value block, Value rowsStart) {
  Value output, stride, sums;
  if (directStride) {
    output = getDirectOutput(columns.first);
    stride = emission.getSize(*directStride);
  } else {
    // With a single block of k, all panels share the space for sums.
    Value isOnly = compare(arith::CmpIPredicate::eq, depthBlocks, emission.getConstant(1));
    sums = select(isOnly, emission.getConstant(0),
                  emission.multiply(emission.subtract(columns.first, firstColumn), rowStep));
    output = emission.getPointer(accumulators, sums);
    stride = emission.getConstant(width);
  }
  Value left = emission.getPointer(packedRows, rowsStart);
  auto call = [&](func::FuncOp function, Value panel, const RowsAhead &ahead) {
    func::CallOp::create(builder, location, function,
                         ValueRange{toWord(rows.count), toWord(height), toWord(columns.count), toWord(columns.depth),
                                    left, panel, output, toWord(stride), toWord(block), ahead.first,
                                    toWord(ahead.pitch)});
  };
  auto callPacked = [&] {
    Value panel = getPanel(columns, block);
    call(kernel, panel, getAhead(columns, block));
  };
  if (streamedInput) {
    // The last panel may end where memory does.
    Value isWhole = compare(arith::CmpIPredicate::eq, columns.count, emission.getConstant(width));
    auto branch = scf::IfOp::create(builder, location, conjoin(streamsColumns, isWhole), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    auto [column, next] = getNext(columns, block);
    call(streamingKernel, getStored(*streamedInput, columns.first, columns.k).first,
         getStored(*streamedInput, column, emission.multiply(next, depthStep)));
    builder.setInsertionPointToStart(branch.elseBlock());
    callPacked();
  } else {
    callPacked();
  }
  if (directStride)
    return;
  Value next = emission.add(block, emission.getConstant(1));
  emitIf(compare(arith::CmpIPredicate::eq, next, depthBlocks), [&] { emitPanelEpilogue(sums, columns); });
}

/// The memory index of B.
Value ContractionEmitter::getLinear(unsigned input, Value column, Value step) {
  Positions positions = points.outer;
  positions.push_back({points.n, column});
  positions.push_back({points.k, emission.multiply(step, emission.getConstant(points.stepsOfWord))});
  return emission.getIndex(points.getLinearIndex(form, input), positions);
}

/// The scratch index of a panel that stays packed.
Value ContractionEmitter::getPanelStart(Value column, Value block) {
  Value panel = emission.subtract(emission.divide(column, emission.getConstant(width)), firstOfGroup);
  Value number = emission.add(emission.multiply(panel, depthBlocks), block);
  return emission.multiply(number, emission.multiply(depthStep, emission.getConstant(width)));
}

/// The packed panel of B: in place if it is stored packed, else in scratch.
Value ContractionEmitter::getPanel(const PackedBlock &columns, Value block) {
  if (packedInput)
    return emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                               getLinear(*packedInput, columns.first, columns.k));
  Value start = select(keepsColumns, getPanelStart(columns.first, block), emission.getConstant(0));
  emitIf(areColumnsNew(columns.first),
         [&] { packPanel(emission, form, points, columns, packedColumns, start, width); });
  return emission.getPointer(packedColumns, start);
}

ContractionEmitter::RowsAhead ContractionEmitter::getStored(const tile::StreamedInput &input, Value column,
                                                            Value step) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[input.input]),
                              getLinear(input.input, column, step)),
          emission.getSize(input.stride * bytes)};
}

/// The column and the block of k after these: the next columns; else those at the beginning of the run, in the next
/// block of k; else the first of the next run.
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

/// The next panel's rows in memory. If B is read as columns, the current panel: prefetching it again is free.
ContractionEmitter::RowsAhead ContractionEmitter::getAhead(const PackedBlock &columns, Value current) {
  Value zero = emission.getConstant(0);
  auto [column, block] = getNext(columns, current);
  Value step = emission.multiply(block, depthStep);
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  Value packedPitch = emission.getConstant(width * bytes);
  if (packedInput)
    return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                                getLinear(*packedInput, column, step)),
            packedPitch};
  Value kept = emission.getPointer(packedColumns, select(keepsColumns, getPanelStart(column, block), zero));
  std::optional<unsigned> read = form.getInput(form.rhs);
  if (!read || form.getWindowTaps())
    return {kept, packedPitch};
  unsigned input = *read;
  graph::TensorType type = form.compute.getInputType(input);
  Expr linear = points.getLinearIndex(form, input);
  std::optional<Expr> alongColumns = getStride(linear, points.n), alongDepth = getStride(linear, points.k);
  if (!alongDepth || !alongColumns || !alongColumns->isConstant(1))
    return {kept, packedPitch};
  int64_t storedBytes = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
  Value stored =
      emission.getPointer(emission.getBuffer(form.compute.getInputs()[input]), getLinear(input, column, step));
  Value isStored = areColumnsNew(columns.first);
  return {select(isStored, stored, kept),
          select(isStored, emission.getSize(*alongDepth * (points.stepsOfWord * storedBytes)), packedPitch)};
}

void ContractionEmitter::emitPanelEpilogue(Value panel, const PackedBlock &columns) {
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  Value lastRow = emission.subtract(rows.count, emission.getConstant(1));
  emission.forRange(emission.getConstant(0), rows.count, 1, [&](Value row) {
    Value start = emission.add(panel, emission.multiply(row, emission.getConstant(width)));
    auto emitLanes = [&](Value column, unsigned lanes, Value mask) {
      Value sums = vector::LoadOp::create(builder, location, VectorType::get({lanes}, form.elementType), accumulators,
                                          emission.add(start, column));
      LanePoints at{points.loops, points.outer, points.n, lanes, mask};
      at.positions.push_back({points.m, emission.add(rows.first, row)});
      at.positions.push_back({points.n, emission.add(columns.first, column)});
      if (isPanelled())
        keepWithinPanel(emission, at, width);
      Value ahead = emission.minimum(emission.add(row, emission.getConstant(tiles.tiling.getPrefetchRows())), lastRow);
      emitEpilogue(emission, form.compute, convertWidth(builder, location, sums, resultType), at,
                   Position{points.m, emission.add(rows.first, ahead)});
    };
    forPanelColumns(emission, columns.count, form.getExtent(form.n), kernelShape, emitLanes);
  });
}

void freestone::codegen::emitContraction(tile::ProgramOp program, Emission &emission) {
  tile::ContractionForm form = *tile::getContractionWithEpilogue(program);
  auto variants = program.getTiling<tile::VariantsTilingAttr>();
  tile::ContractionTiles tiles =
      variants ? tile::ContractionTiles::get(form, variants)
               : tile::ContractionTiles::get(form, program.getTiling<tile::ContractionTilingAttr>());
  ContractionEmitter(emission, std::move(form), tiles).emit();
}
