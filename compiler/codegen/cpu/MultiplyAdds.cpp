#include "compiler/codegen/cpu/ContractionEmitter.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/UpdateKernel.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/MatrixInPlace.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// A set of L1 holds so many lines at least, on x86.
static constexpr int64_t linesOfSet = 8;

namespace {

/// The micro-kernel multiplies packed rows, each element in turn, by vectors of a panel.
class MultiplyAddEmitter : public ContractionEmitter {
public:
  MultiplyAddEmitter(Emission &emission, tile::ContractionForm form, tile::ContractionTiles tiles);

private:
  void prepare() override;
  void begin() override;
  void beginRun() override;
  Value getDepthBlocks() override;
  Value getMostTiles() override;
  void packRowsOf(const PackedBlock &block) override;
  void packColumnsOf(const PackedBlock &columns, Value start, Value pitch) override;
  void packTogether(const PackedBlock &columns, Value start, Value pitch) override;
  void multiplyRun(llvm::function_ref<void()> byPanel) override;
  void multiplyPanel(const Panel &columns, Value sums) override;
  void emitUpdate();
  void multiplyInner(const Panel &columns, Value output, Value stride);
  void multiplyUnpacked(const Panel &columns, Value panel, Value output, Value stride, const MemoryRows &brought);
  MemoryRows getAhead(const Panel &columns);
  MemoryRows getStored(const tile::StreamedInput &input, Value column, Value step);
  MemoryRows getBrought(const Panel &columns, Value output, Value stride, bool isResult);
  Value getLinear(unsigned input, Value column, Value step) { return getLinear(input, points.n, column, step); }
  /// Whether rows of memory that are so many bytes apart share a set of L1.
  Value areWholePages(Value pitch) {
    Value inPage = arith::AndIOp::create(builder, location, pitch, emission.getConstant(tile::pageBytes - 1));
    return compare(arith::CmpIPredicate::eq, inPage, emission.getConstant(0));
  }
  /// The memory index of an operand, at a place of its rows or columns.
  Value getLinear(unsigned input, Expr across, Value place, Value step);
  /// Whether few rows of A may be updates of a run's results at once, which must then be in place: as rows, not in
  /// panels.
  bool mayUpdate() { return streamedInput && directStride && !form.storesPanels(width); }

  std::optional<unsigned> packedInput;
  /// B, if few rows of A read its panels in place.
  std::optional<tile::StreamedInput> streamedInput;
  /// The operands, if few rows are inner products.
  std::optional<tile::AlongDepth> alongDepth;
  /// A, if few columns read its rows in place.
  std::optional<tile::MatrixInPlace> unpackedRows;
  /// The row stride of the result, if the micro-kernel writes it.
  std::optional<Expr> directStride;
  func::FuncOp kernel, streamingKernel, unpackedKernel, updateKernel, innerKernel;
  /// Whether columns are read in place by updates; null if they never are.
  Value updatesRows;
  /// Whether columns come from memory.
  Value areColumnsFar;
  /// Whether columns are so few that they read rows in place; null if they never are.
  Value areColumnsFew;
  /// Whether the result's rows are prefetched during the product; null if none are.
  Value bringsResults;
  /// The height of blocks of the current run's rows.
  Value height;
};

} // namespace

MultiplyAddEmitter::MultiplyAddEmitter(Emission &emission, tile::ContractionForm contraction,
                                       tile::ContractionTiles geometry)
    : ContractionEmitter(emission, std::move(contraction), geometry, geometry.kernel.getLanes()),
      packedInput(form.getPackedInput(width)) {
  if (!tiles.keepsSums)
    directStride = form.getDirectStride(width);
  if (tiles.streamedRows > 0) {
    streamedInput = form.getStreamedInput();
    if (!streamedInput)
      alongDepth = tile::AlongDepth::get(form, width);
  }
  if (tiles.streamedColumns > 0)
    unpackedRows = tile::MatrixInPlace::getRows(form);
}

void MultiplyAddEmitter::prepare() {
  auto module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  kernel = declareKernel(module, getKernelKind(tiles.wordSteps), form.elementType, tiles.kernel);
  if (streamedInput) {
    streamingKernel = declareKernel(module, KernelKind::stream, form.elementType, tiles.kernel);
    updateKernel = declareKernel(module, KernelKind::update, form.elementType, tiles.kernel);
  }
  if (alongDepth)
    innerKernel = declareKernel(module, KernelKind::inner, form.elementType, tiles.kernel);
  if (unpackedRows)
    unpackedKernel = declareKernel(module, KernelKind::unpacked, form.elementType, tiles.kernel);
  // The same sizes as in the plan's `scratch`.
  packedRows = emission.takeScratch(form.elementType, tiles.packedRows);
  if (!packedInput)
    packedColumns = emission.takeScratch(form.elementType, tiles.packedColumns);
  if (!directStride)
    accumulators = emission.takeScratch(form.elementType, tiles.sums);
}

void MultiplyAddEmitter::begin() {
  areColumnsFar = arith::ConstantIntOp::create(builder, location, 0, 1);
  if (tiles.farColumns > 0)
    areColumnsFar = compare(arith::CmpIPredicate::sgt, emission.multiply(columnTotal, depthTotal),
                            emission.getConstant(tiles.farColumns));
  if (tiles.packedTogether > 1) {
    int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
    packsTogether = areWholePages(emission.getSize(form.getStreamedInput()->stride * bytes));
  }
  if (tiles.bringBeyond > 0) {
    Expr elements = form.getExtent(form.outer) * form.getExtent(form.m) * form.getExtent(form.n);
    bringsResults =
        compare(arith::CmpIPredicate::sgt, emission.getSize(elements), emission.getConstant(tiles.bringBeyond));
  }
  if (unpackedRows) {
    Value no = arith::ConstantIntOp::create(builder, location, 0, 1);
    areColumnsFew = select(
        areRowsFew, no, compare(arith::CmpIPredicate::sle, columnTotal, emission.getConstant(tiles.streamedColumns)));
    // Their blocks are higher than a strip's.
    if (goesByStrips)
      goesByStrips = select(areColumnsFew, no, goesByStrips);
  }
}

/// Updates have one block, since their sums are written back anyway, where all of A's steps fit packed.
Value MultiplyAddEmitter::getDepthBlocks() {
  Value planned = ContractionEmitter::getDepthBlocks();
  if (!mayUpdate())
    return planned;
  updatesRows =
      conjoin(areRowsFew, compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(mostUpdatedRows)));
  Value unit = emission.getConstant(tiles.depthUnit);
  Value steps = emission.multiply(emission.ceilDivide(depthTotal, unit), unit);
  Value fit = compare(arith::CmpIPredicate::sle, emission.multiply(rowTotal, steps), emission.getSize(tiles.keptRows));
  return select(conjoin(updatesRows, fit), emission.getConstant(1), planned);
}

Value MultiplyAddEmitter::getMostTiles() {
  Value most = ContractionEmitter::getMostTiles();
  return mayUpdate() ? select(updatesRows, emission.getConstant(tile::updatedColumns / width), most) : most;
}

void MultiplyAddEmitter::beginRun() {
  stripRows = height = getBlockHeight(emission, rows.count, tiles.kernel.getRows(), 1);
}

void MultiplyAddEmitter::packRowsOf(const PackedBlock &block) {
  auto pack = [&] { packRows(emission, form, points, block, packedRows, rowsStart, height, tiles.kernel.getRows()); };
  Value areInPlace = areColumnsFew;
  if (alongDepth)
    areInPlace = areInPlace ? select(areRowsFew, areRowsFew, areInPlace) : areRowsFew;
  if (areInPlace)
    emitIf(
        areInPlace, [] {}, pack);
  else
    pack();
}

void MultiplyAddEmitter::packColumnsOf(const PackedBlock &columns, Value start, Value) {
  packPanel(emission, form, points, columns, packedColumns, start, width);
}

void MultiplyAddEmitter::packTogether(const PackedBlock &columns, Value start, Value pitch) {
  packPanels(emission, form, points, columns, packedColumns, start, pitch, tiles.packedTogether, width);
}

void MultiplyAddEmitter::multiplyRun(llvm::function_ref<void()> byPanel) {
  if (mayUpdate())
    emitIf(
        updatesRows, [&] { emitUpdate(); }, byPanel);
  else
    byPanel();
}

/// Computes a block of k for all columns of the run at once.
void MultiplyAddEmitter::emitUpdate() {
  PackedBlock columns = getRows();
  columns.first = firstPlace;
  columns.count = emission.subtract(lastPlace, firstPlace);
  auto [right, pitch] = getStored(*streamedInput, columns.first, columns.k);
  // Whatever the run, so that its bits are the same.
  Value vectors = emission.ceilDivide(columnTotal, emission.getConstant(tiles.kernel.getLanes()));
  Value areHeld = compare(arith::CmpIPredicate::sle, vectors, emission.getConstant(heldVectors));
  Value held = select(areHeld, vectors, emission.getConstant(0));
  func::CallOp::create(builder, location, updateKernel,
                       ValueRange{toWord(rows.count), toWord(columns.count), toWord(columns.depth),
                                  emission.getPointer(packedRows, rowsStart), right, toWord(pitch),
                                  getResultAddress(emission.getConstant(0), columns.first),
                                  toWord(emission.getSize(*directStride)), toWord(getBlock()), toWord(held),
                                  arith::ExtUIOp::create(builder, location, builder.getI64Type(), areColumnsFar)});
}

void MultiplyAddEmitter::multiplyPanel(const Panel &columns, Value sums) {
  Value output =
      sums ? emission.getPointer(accumulators, sums) : getResultAddress(columns.piece.firstRow, columns.first);
  Value stride = sums ? emission.getConstant(width) : emission.getSize(*directStride);
  if (sums)
    bringEpilogue(columns);
  Value before = emission.multiply(columns.piece.firstRow, columns.depth);
  Value left = emission.getPointer(packedRows, emission.add(rowsStart, before));
  MemoryRows brought = getBrought(columns, output, stride, /*isResult=*/!sums);
  auto call = [&](func::FuncOp function, Value panel, const MemoryRows &ahead) {
    func::CallOp::create(builder, location, function,
                         ValueRange{toWord(columns.piece.rowCount), toWord(height), toWord(columns.count),
                                    toWord(columns.depth), left, panel, output, toWord(stride), toWord(getBlock()),
                                    ahead.first, toWord(ahead.pitch), brought.first, toWord(brought.pitch)});
  };
  auto callPacked = [&] {
    Value panel = getCopy();
    panel = panel ? emission.getPointer(packedColumns, panel)
                  : emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                                        getLinear(*packedInput, columns.first, columns.k));
    if (areColumnsFew)
      emitIf(
          areColumnsFew, [&] { multiplyUnpacked(columns, panel, output, stride, brought); },
          [&] { call(kernel, panel, getAhead(columns)); });
    else
      call(kernel, panel, getAhead(columns));
  };
  if (alongDepth)
    return emitIf(
        areRowsFew, [&] { multiplyInner(columns, output, stride); }, callPacked);
  if (!streamedInput)
    return callPacked();
  // The last panel may end where memory does.
  Value isWhole = compare(arith::CmpIPredicate::eq, columns.count, emission.getConstant(width));
  auto callStreaming = [&] {
    auto [place, next] = getNext(columns);
    call(streamingKernel, getStored(*streamedInput, columns.first, columns.k).first,
         getStored(*streamedInput, getColumn(place), emission.multiply(next, depthStep)));
  };
  Value streams = conjoin(areRowsFew, isWhole);
  if (packsTogether) {
    Value no = arith::ConstantIntOp::create(builder, location, 0, 1);
    streams = select(conjoin(packsTogether, areColumnsFar), no, streams);
  }
  emitIf(streams, callStreaming, callPacked);
}

/// Operands are read where they are.
void MultiplyAddEmitter::multiplyInner(const Panel &columns, Value output, Value stride) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  auto getAddress = [&](unsigned input, Expr across, Value place) {
    return emission.getPointer(emission.getBuffer(form.compute.getInputs()[input]),
                               getLinear(input, across, place, columns.k));
  };
  auto getPitch = [&](Expr elements) { return toWord(emission.getSize(elements * bytes)); };
  Value row = emission.add(rows.first, columns.piece.firstRow);
  func::CallOp::create(builder, location, innerKernel,
                       ValueRange{toWord(columns.piece.rowCount), toWord(columns.count), toWord(columns.depth),
                                  getAddress(alongDepth->rows.input, points.m, row), getPitch(alongDepth->rows.across),
                                  getAddress(alongDepth->columns, points.n, columns.first),
                                  getPitch(alongDepth->across), getPitch(alongDepth->groups), output, toWord(stride),
                                  toWord(getBlock())});
}

/// Rows are read where they are.
void MultiplyAddEmitter::multiplyUnpacked(const Panel &columns, Value panel, Value output, Value stride,
                                          const MemoryRows &brought) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8, lastVectors = tiles.kernel.getLastVectors();
  auto getHeight = [&](int64_t most) { return getBlockHeight(emission, columns.piece.rowCount, most); };
  int64_t most = getUnpackedRows(tiles.kernel, tiles.kernel.getVectors());
  Value ofBlock = getHeight(most), pitch = emission.getSize(unpackedRows->across * bytes);
  if (lastVectors > 0) {
    int64_t mostOfLast = getUnpackedRows(tiles.kernel, lastVectors);
    Value isLast =
        compare(arith::CmpIPredicate::sle, columns.count, emission.getConstant(lastVectors * tiles.kernel.getLanes()));
    Value ofLast =
        select(areWholePages(pitch), getHeight(std::clamp(linesOfSet, most, mostOfLast)), getHeight(mostOfLast));
    ofBlock = select(isLast, ofLast, ofBlock);
  }
  Value row = emission.add(rows.first, columns.piece.firstRow);
  Value left = emission.getPointer(emission.getBuffer(form.compute.getInputs()[unpackedRows->input]),
                                   getLinear(unpackedRows->input, points.m, row, columns.k));
  func::CallOp::create(builder, location, unpackedKernel,
                       ValueRange{toWord(columns.piece.rowCount), toWord(ofBlock), toWord(columns.count),
                                  toWord(columns.depth), left, panel, output, toWord(stride), toWord(getBlock()), left,
                                  toWord(pitch), brought.first, toWord(brought.pitch)});
}

/// Rows that are prefetched during a product: those that it adds to, and the result's before they are written.
MemoryRows MultiplyAddEmitter::getBrought(const Panel &columns, Value output, Value stride, bool isResult) {
  Value zero = emission.getConstant(0), bytes = emission.getConstant(form.elementType.getIntOrFloatBitWidth() / 8);
  Value pitch = emission.multiply(stride, bytes), brings = compare(arith::CmpIPredicate::ne, getBlock(), zero);
  if (bringsResults && isResult)
    brings = arith::OrIOp::create(builder, location, brings, bringsResults);
  MemoryRows ofSums = {output, select(brings, pitch, zero)};
  std::optional<MemoryRows> result = bringsResults && !isResult ? getResultRows(columns) : std::nullopt;
  if (!result)
    return ofSums;
  Value next = emission.add(getBlock(), emission.getConstant(1));
  Value isLast = conjoin(bringsResults, compare(arith::CmpIPredicate::eq, next, depthBlocks));
  return {select(isLast, result->first, output), select(isLast, result->pitch, ofSums.pitch)};
}

Value MultiplyAddEmitter::getLinear(unsigned input, Expr across, Value place, Value step) {
  Positions positions = points.outer;
  positions.push_back({across, place});
  positions.push_back({points.k, emission.multiply(step, emission.getConstant(points.stepsOfWord))});
  return emission.getIndex(points.getLinearIndex(form, input), positions);
}

MemoryRows MultiplyAddEmitter::getStored(const tile::StreamedInput &input, Value column, Value step) {
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[input.input]),
                              getLinear(input.input, column, step)),
          emission.getSize(input.stride * bytes)};
}

/// The next panel's rows in memory. If B is read as columns, the current panel: prefetching it again is free.
MemoryRows MultiplyAddEmitter::getAhead(const Panel &columns) {
  auto [place, block] = getNext(columns);
  Value column = getColumn(place), step = emission.multiply(block, depthStep);
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  Value packedPitch = emission.getConstant(width * bytes);
  if (packedInput)
    return {emission.getPointer(emission.getBuffer(form.compute.getInputs()[*packedInput]),
                                getLinear(*packedInput, column, step)),
            packedPitch};
  Value kept = emission.getPointer(packedColumns, getPanelStart(columns, place, block));
  std::optional<unsigned> read = form.getInput(form.rhs);
  if (!read || form.getWindowTaps())
    return {kept, packedPitch};
  unsigned input = *read;
  graph::TensorType type = form.compute.getInputType(input);
  Expr linear = points.getLinearIndex(form, input);
  std::optional<Expr> alongColumns = tile::getStride(linear, points.n), alongDepth = tile::getStride(linear, points.k);
  if (!alongDepth || !alongColumns || !alongColumns->isConstant(1))
    return {kept, packedPitch};
  int64_t storedBytes = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
  auto [later, laterBlock] = getNextPacked(columns);
  Value stored = emission.getPointer(emission.getBuffer(form.compute.getInputs()[input]),
                                     getLinear(input, getColumn(later), emission.multiply(laterBlock, depthStep)));
  Value isStored = areColumnsNew(columns);
  return {select(isStored, stored, kept),
          select(isStored, emission.getSize(*alongDepth * (points.stepsOfWord * storedBytes)), packedPitch)};
}

std::unique_ptr<ContractionEmitter> freestone::codegen::makeMultiplyAdds(Emission &emission, tile::ContractionForm form,
                                                                         tile::ContractionTiles tiles) {
  return std::make_unique<MultiplyAddEmitter>(emission, std::move(form), tiles);
}
