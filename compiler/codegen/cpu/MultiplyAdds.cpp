#include "compiler/codegen/cpu/ContractionEmitter.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/UpdateKernel.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// The micro-kernel multiplies packed rows, each element in turn, by vectors of a panel, which is packed right before,
/// unless it is stored packed; sums are written to the result where nothing follows on them.
class MultiplyAddEmitter : public ContractionEmitter {
public:
  MultiplyAddEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles);

private:
  void prepare() override;
  void begin() override;
  void beginRun() override;
  Value getMostTiles() override;
  void packRowsOf(const PackedBlock &block, Value start) override;
  void multiplyBlock(const PackedBlock &at, Value block, Value rowsStart) override;
  void emitPanel(const Panel &columns, Value block, Value rowsStart);
  void emitUpdate(PackedBlock columns, Value block, Value rowsStart);
  Value getDirectOutput(Value column);
  Value getPanel(const Panel &columns, Value block);
  /// The address of a panel's first row, for prefetching, and the bytes from one row to the next.
  struct RowsAhead {
    Value first, pitch;
  };
  RowsAhead getAhead(const Panel &columns, Value block);
  RowsAhead getStored(const tile::StreamedInput &input, Value column, Value step);
  Value getLinear(unsigned input, Value column, Value step);
  /// Whether few rows of A may be updates of a run's results at once, which must then be in place: as rows, not in
  /// panels.
  bool mayUpdate() { return streamedInput && directStride && !isPanelled(); }

  std::optional<unsigned> packedInput;
  /// B, if few rows of A read its panels in place.
  std::optional<tile::StreamedInput> streamedInput;
  /// The row stride of the result, if the micro-kernel can write it directly.
  std::optional<Expr> directStride;
  func::FuncOp kernel, streamingKernel, updateKernel;
  /// Whether columns are read in place, and by updates.
  Value streamsColumns, updatesRows;
  /// The height of blocks of the current run's rows.
  Value height;
};

} // namespace

MultiplyAddEmitter::MultiplyAddEmitter(Emission &emission, tile::ContractionForm contraction,
                                       tile::ContractionTiles geometry)
    : ContractionEmitter(emission, std::move(contraction), geometry, geometry.kernel.getLanes()),
      packedInput(form.getPackedInput(width)) {
  graph::TensorType type = form.compute.getResultType(0);
  Expr linear = tile::getLinearIndex(type, ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  std::optional<Expr> columnStride = getStride(linear, points.n);
  // The micro-kernel's columns are those of one panel.
  if (isPanelled())
    columnStride = Expr::constant(builder.getContext(), 1);
  if (tiles.streamedRows > 0)
    streamedInput = form.getStreamedInput();
  bool alone = emission.program.getComputes().size() == 1 && emission.program.getResultTypes().size() == 1;
  if (alone && type.getElementType() == form.elementType && columnStride && columnStride->isConstant(1))
    directStride = getStride(linear, points.m);
}

void MultiplyAddEmitter::prepare() {
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  kernel = declareKernel(module, getKernelKind(tiles.wordSteps), form.elementType, tiles.kernel);
  if (streamedInput) {
    streamingKernel = declareKernel(module, KernelKind::stream, form.elementType, tiles.kernel);
    updateKernel = declareKernel(module, KernelKind::update, form.elementType, tiles.kernel);
  }
  // The same sizes as in the plan's `scratch`.
  packedRows = emission.takeScratch(form.elementType, tiles.packedRows);
  if (!packedInput)
    packedColumns = emission.takeScratch(form.elementType, tiles.packedColumns);
  if (!directStride)
    accumulators = emission.takeScratch(form.elementType, tiles.sums);
}

void MultiplyAddEmitter::begin() {
  streamsColumns = compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(tiles.streamedRows));
  updatesRows =
      conjoin(streamsColumns, compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(mostUpdatedRows)));
}

Value MultiplyAddEmitter::getMostTiles() {
  Value most = ContractionEmitter::getMostTiles();
  return mayUpdate() ? select(updatesRows, emission.getConstant(updatedColumns / width), most) : most;
}

void MultiplyAddEmitter::beginRun() { height = getBlockHeight(emission, rows.count, tiles.kernel.getRows(), 1); }

void MultiplyAddEmitter::packRowsOf(const PackedBlock &block, Value start) {
  packRows(emission, form, points, block, packedRows, start, height, tiles.kernel.getRows());
}

void MultiplyAddEmitter::multiplyBlock(const PackedBlock &at, Value block, Value rowsStart) {
  auto emitPanels = [&] { forPanels(at, [&](const Panel &columns) { emitPanel(columns, block, rowsStart); }); };
  if (!mayUpdate())
    return emitPanels();
  auto branch = scf::IfOp::create(builder, location, updatesRows, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitUpdate(at, block, rowsStart);
  builder.setInsertionPointToStart(branch.elseBlock());
  emitPanels();
}

/// Computes a block of k for all columns of the run at once.
void MultiplyAddEmitter::emitUpdate(PackedBlock columns, Value block, Value rowsStart) {
  columns.first = firstPlace;
  columns.count = emission.subtract(lastPlace, firstPlace);
  auto [right, pitch] = getStored(*streamedInput, columns.first, columns.k);
  func::CallOp::create(builder, location, updateKernel,
                       ValueRange{toWord(rows.count), toWord(columns.count), toWord(columns.depth),
                                  emission.getPointer(packedRows, rowsStart), right, toWord(pitch),
                                  getDirectOutput(columns.first), toWord(emission.getSize(*directStride)),
                                  toWord(block)});
}

Value MultiplyAddEmitter::getDirectOutput(Value column) {
  Positions positions = points.outer;
  positions.push_back({points.m, rows.first});
  positions.push_back({points.n, column});
  Expr linear = tile::getLinearIndex(form.compute.getResultType(0),
                                     ArrayRef(points.loops).take_front(form.compute.getNumParallel()));
  return emission.getPointer(emission.getResultBuffer(0), emission.getIndex(linear, positions));
}

void MultiplyAddEmitter::emitPanel(const Panel &columns, Value block, Value rowsStart) {
  Value output, stride, sums;
  if (directStride) {
    output = getDirectOutput(columns.first);
    stride = emission.getSize(*directStride);
  } else {
    sums = getSums(columns.place);
    output = emission.getPointer(accumulators, sums);
    stride = emission.getConstant(width);
  }
  if (!directStride)
    bringEpilogue(columns, block);
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
    auto [place, next] = getNext(columns, block);
    call(streamingKernel, getStored(*streamedInput, columns.first, columns.k).first,
         getStored(*streamedInput, getColumn(place), emission.multiply(next, depthStep)));
    builder.setInsertionPointToStart(branch.elseBlock());
    callPacked();
  } else {
    callPacked();
  }
  if (!directStride)
    finishPanel(columns, block);
}

/// The memory index of B.
Value MultiplyAddEmitter::getLinear(unsigned input, Value column, Value step) {
  Positions positions = points.outer;
  positions.push_back({points.n, column});
  positions.push_back({points.k, emission.multiply(step, emission.getConstant(points.stepsOfWord))});
  return emission.getIndex(points.getLinearIndex(form, input), positions);
}

/// The packed panel of B: in place if it is stored packed, else in scratch.
Value MultiplyAddEmitter::getPanel(const Panel &columns, Value block) {
  if (packedInput)
    return emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                               getLinear(*packedInput, columns.first, columns.k));
  Value start = select(keepsColumns, getPanelStart(columns.place, block), emission.getConstant(0));
  emitIf(areColumnsNew(columns), [&] { packPanel(emission, form, points, columns, packedColumns, start, width); });
  return emission.getPointer(packedColumns, start);
}

MultiplyAddEmitter::RowsAhead MultiplyAddEmitter::getStored(const tile::StreamedInput &input, Value column,
                                                            Value step) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[input.input]),
                              getLinear(input.input, column, step)),
          emission.getSize(input.stride * bytes)};
}

/// The next panel's rows in memory. If B is read as columns, the current panel: prefetching it again is free.
MultiplyAddEmitter::RowsAhead MultiplyAddEmitter::getAhead(const Panel &columns, Value current) {
  Value zero = emission.getConstant(0);
  auto [place, block] = getNext(columns, current);
  Value column = getColumn(place), step = emission.multiply(block, depthStep);
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  Value packedPitch = emission.getConstant(width * bytes);
  if (packedInput)
    return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                                getLinear(*packedInput, column, step)),
            packedPitch};
  Value kept = emission.getPointer(packedColumns, select(keepsColumns, getPanelStart(place, block), zero));
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
  Value isStored = areColumnsNew(columns);
  return {select(isStored, stored, kept),
          select(isStored, emission.getSize(*alongDepth * (points.stepsOfWord * storedBytes)), packedPitch)};
}

std::unique_ptr<ContractionEmitter> freestone::codegen::makeMultiplyAdds(Emission &emission, tile::ContractionForm form,
                                                                         tile::ContractionTiles tiles) {
  return std::make_unique<MultiplyAddEmitter>(emission, std::move(form), tiles);
}
