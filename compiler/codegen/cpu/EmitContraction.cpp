#include "compiler/codegen/cpu/EmitContraction.h"

#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/tile/IndexMaps.h"
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
  ContractionEmitter(Emission &emission, tile::ContractionForm form);
  void emit();

private:
  void emitTile(Value tile);
  Value getPanel(const PackedBlock &columns);
  void emitPanelEpilogue(Value panel, const PackedBlock &rows, const PackedBlock &columns);
  Value toWord(Value index) {
    return arith::IndexCastOp::create(emission.builder, emission.location, emission.builder.getI64Type(), index);
  }

  Emission &emission;
  tile::ContractionForm form;
  tile::ContractionTiling tiling;
  int64_t width;
  ContractionPoints points;
  std::optional<unsigned> packedInput;
  /// Elements from row to row of the result, where the micro-kernel can write there itself.
  std::optional<Expr> directStride;
  func::FuncOp kernel;
  Value packedRows, packedPanel, accumulators;
};

} // namespace

ContractionEmitter::ContractionEmitter(Emission &emission, tile::ContractionForm contraction)
    : emission(emission), form(std::move(contraction)), tiling(tile::ContractionTiling::get(form, emission.device)),
      packedInput(form.getPackedInput(emission.device)) {
  unsigned bits = form.elementType.getIntOrFloatBitWidth();
  width = emission.device.getPanelWidth(bits);

  points.m = emission.getPositionSymbol("m");
  points.n = emission.getPositionSymbol("n");
  points.k = emission.getPositionSymbol("k");
  points.loops.resize(form.compute.getNumLoops());
  auto place = [&](ArrayRef<unsigned> loops, ArrayRef<Expr> at) {
    for (auto [loop, expr] : llvm::zip_equal(loops, at))
      points.loops[loop] = expr;
  };
  place(form.m, form.getDigits(form.m, points.m));
  place(form.n, form.getDigits(form.n, points.n));
  place(form.k, form.getDigits(form.k, points.k));
  for (auto [number, loop] : llvm::enumerate(form.outer)) {
    points.outer.push_back({emission.getPositionSymbol("o" + std::to_string(number)), Value()});
    points.loops[loop] = points.outer.back().symbol;
  }

  graph::TensorType type = form.compute.getResultType(0);
  Expr linear = tile::getLinearIndex(type, ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  std::optional<Expr> columnStride = getStride(linear, points.n);
  bool alone = emission.program.getComputes().size() == 1 && emission.program.getResultTypes().size() == 1;
  if (alone && type.getElementType() == form.elementType && columnStride && columnStride->isConstant(1))
    directStride = getStride(linear, points.m);
}

void ContractionEmitter::emit() {
  MLIRContext *context = emission.builder.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  tile::ContractionBlocks blocks =
      tile::ContractionBlocks::get(emission.device, form.elementType.getIntOrFloatBitWidth() / 8);
  kernel = declareKernel(emission.builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>(), KernelKind::contract,
                         form.elementType);
  // The same sizes as in the plan's `scratch`.
  packedRows = emission.takeScratch(form.elementType, tiling.packedRows);
  if (!packedInput)
    packedPanel = emission.takeScratch(form.elementType, constant(blocks.depth * width));
  if (!directStride)
    accumulators = emission.takeScratch(form.elementType, tiling.rowStep * tiling.columnStep);
  emission.forTiles([&](Value tile) { emitTile(tile); });
}

void ContractionEmitter::emitTile(Value tile) {
  SmallVector<Expr> grid = form.getExtents(form.outer);
  grid.push_back(tiling.rowBlocks);
  grid.push_back(tiling.columnBlocks);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  for (auto [position, digit] : llvm::zip(points.outer, digits))
    position.value = digit;

  Value rowTotal = emission.getSize(form.getExtent(form.m)), columnTotal = emission.getSize(form.getExtent(form.n));
  Value depthTotal = emission.getSize(form.getExtent(form.k));
  Value rowStep = emission.getSize(tiling.rowStep), columnStep = emission.getSize(tiling.columnStep);
  Value depthStep = emission.getSize(tiling.depthStep), depthBlocks = emission.getSize(tiling.depthBlocks);
  Value zero = emission.getConstant(0), one = emission.getConstant(1);

  PackedBlock rows;
  rows.first = emission.multiply(digits[digits.size() - 2], rowStep);
  // The last blocks of an extent may have nothing left.
  auto extentLeft = [&](Value total, Value first, Value step) {
    return emission.maximum(zero, emission.minimum(step, emission.subtract(total, first)));
  };
  rows.count = extentLeft(rowTotal, rows.first, rowStep);
  Value height = getBlockHeight(emission, rows.count);
  Value firstColumn = emission.multiply(digits.back(), columnStep);
  Value lastColumn = emission.minimum(columnTotal, emission.add(firstColumn, columnStep));

  emission.forRange(zero, depthBlocks, 1, [&](Value block) {
    PackedBlock at = rows;
    at.k = emission.multiply(block, depthStep);
    at.depth = extentLeft(depthTotal, at.k, depthStep);
    packRows(emission, form, points, at, packedRows, height);
    emission.forRange(firstColumn, lastColumn, width, [&](Value column) {
      OpBuilder &builder = emission.builder;
      Location location = emission.location;
      PackedBlock columns = at;
      columns.first = column;
      columns.count = emission.minimum(emission.getConstant(width), emission.subtract(columnTotal, column));
      Value panelPointer = getPanel(columns);

      Value output, stride;
      Value panelStart;
      if (directStride) {
        Positions positions = points.outer;
        positions.push_back({points.m, rows.first});
        positions.push_back({points.n, column});
        Expr linear = tile::getLinearIndex(form.compute.getResultType(0),
                                           ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
        output = emission.getPointer(emission.getResultBuffer(0), emission.getIndex(linear, positions));
        stride = toWord(emission.getSize(*directStride));
      } else {
        panelStart = emission.multiply(emission.subtract(column, firstColumn), rowStep);
        output = emission.getPointer(accumulators, panelStart);
        stride = toWord(emission.getConstant(width));
      }
      Value accumulate = toWord(block);
      func::CallOp::create(builder, location, kernel,
                           ValueRange{toWord(rows.count), toWord(height), toWord(columns.count), toWord(at.depth),
                                      emission.getPointer(packedRows, zero), panelPointer, output, stride, accumulate});
      if (directStride)
        return;
      Value isLast = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, emission.add(block, one), depthBlocks);
      auto branch = scf::IfOp::create(builder, location, isLast, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      emitPanelEpilogue(panelStart, rows, columns);
    });
  });
}

/// The packed panel of B: where it is stored, or packed into scratch now.
Value ContractionEmitter::getPanel(const PackedBlock &columns) {
  if (!packedInput) {
    packPanel(emission, form, points, columns, packedPanel, width);
    return emission.getPointer(packedPanel, emission.getConstant(0));
  }
  Positions positions = points.outer;
  positions.push_back({points.n, columns.first});
  positions.push_back({points.k, columns.k});
  SmallVector<Expr> indices;
  for (Expr index : tile::getIndices(form.compute, *packedInput))
    indices.push_back(tile::substituteLoops(index, points.loops));
  Expr linear = tile::getLinearIndex(form.compute.getInputType(*packedInput), indices);
  return emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]), emission.getIndex(linear, positions));
}

void ContractionEmitter::emitPanelEpilogue(Value panel, const PackedBlock &rows, const PackedBlock &columns) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  unsigned lanes = emission.device.getLanes(form.elementType.getIntOrFloatBitWidth());
  Type resultType = tile::getScalarType(form.compute.getResultType(0).getElementType());
  emission.forRange(emission.getConstant(0), rows.count, 1, [&](Value row) {
    Value start = emission.add(panel, emission.multiply(row, emission.getConstant(width)));
    emission.forRange(emission.getConstant(0), columns.count, lanes, [&](Value column) {
      Value sums = vector::LoadOp::create(builder, location, VectorType::get({lanes}, form.elementType), accumulators,
                                          emission.add(start, column));
      LanePoints at{points.loops, points.outer, points.n, lanes,
                    emission.getTailMask(lanes, emission.subtract(columns.count, column))};
      at.positions.push_back({points.m, emission.add(rows.first, row)});
      at.positions.push_back({points.n, emission.add(columns.first, column)});
      emitEpilogue(emission, convertWidth(builder, location, sums, resultType), at);
    });
  });
}

LogicalResult freestone::codegen::emitContraction(tile::ProgramOp program, Emission &emission) {
  std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program);
  if (!form)
    return program.emitOpError("is planned as a contraction, but is none");
  ContractionEmitter(emission, std::move(*form)).emit();
  return success();
}
