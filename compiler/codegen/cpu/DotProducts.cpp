#include "compiler/codegen/cpu/DotProductEmitter.h"
#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void DotProductEmitter::prepare() {
  DotProductKernel used{layout.multiplied, layout.summedBy, tiles.directType};
  kernel = declareDotProducts(module, used, /*isNarrow=*/false);
  if (layout.lastVectors > 0)
    narrowKernel = declareDotProducts(module, used, /*isNarrow=*/true);
  if (tile::ReadsInPlace::hasRowsInPlace(form, tiles.streamedColumns)) {
    used.rows = getRowsInPlace(layout);
    inPlaceKernel = declareDotProducts(module, used, /*isNarrow=*/false);
    if (layout.lastVectors > 0)
      narrowInPlaceKernel = declareDotProducts(module, used, /*isNarrow=*/true);
  }
  // The same sizes as in the plan's `scratch`.
  if (form.areRowsStrips())
    storedRows = emission.getBuffer(form.compute.getInputs()[*form.getInput(form.lhs)]);
  else
    packedRows = emission.takeScratch(tiles.packedType, tiles.packedRows);
  if (Value parts = layout.factors.parts > 1 ? form.getParts() : Value())
    storedColumns = emission.getBuffer(parts);
  else if (form.areColumnsWords())
    storedColumns = emission.getBuffer(form.compute.getInputs()[*form.getInput(form.rhs)]);
  else
    packedColumns = emission.takeScratch(tiles.packedType, tiles.packedColumns);
  accumulators = emission.takeScratch(tiles.sumType, tiles.sums);
  if (layout.flipsRows())
    columnSums = emission.takeScratch(tiles.sumType, tiles.columnSums);
  prepareInPlace();
}

/// Panels of parts that pass by are multiplied in pairs where rows are half a strip.
void DotProductEmitter::begin() {
  if (storedColumns && layout.factors.parts > 1)
    pairsPanels = compare(arith::CmpIPredicate::sle, rowTotal, emission.getConstant(layout.unit / 2));
  beginInPlace();
  call(TileFunction::enter);
}

/// Matrix units are the worker's from the first run to the last.
void DotProductEmitter::call(TileFunction function) {
  if (layout.summedBy == tile::DotProductUnit::tiles)
    func::CallOp::create(builder, location, declareTileFunction(module, function));
}

/// An empty sum has one group of zeros.
Value DotProductEmitter::countGroups(const PackedBlock &block) {
  return emission.maximum(emission.getConstant(1),
                          emission.ceilDivide(block.depth, emission.getConstant(layout.getStepsOfGroup())));
}

/// Groups, or on vectors the words in them.
Value DotProductEmitter::countMultiplied(const PackedBlock &block, Value group, Value groups) {
  if (layout.summedBy == tile::DotProductUnit::tiles)
    return groups;
  Value words = emission.getConstant(layout.rowWords);
  return emission.minimum(
      emission.multiply(groups, words),
      emission.subtract(countMultipliedWords(emission, layout, block), emission.multiply(group, words)));
}

void DotProductEmitter::packRowsOf(const PackedBlock &block) {
  auto pack = layout.factors.parts > 1 ? packSplitRows : packDotProductRows;
  auto packAll = [&] { pack(emission, form, layout, points, block, countGroups(block), packedRows, rowsStart); };
  Value areInPlace = isInner;
  if (keepsRowsInPlace)
    areInPlace = isInner ? arith::OrIOp::create(builder, location, isInner, keepsRowsInPlace) : keepsRowsInPlace;
  areInPlace ? emitIf(
                   areInPlace, [] {}, packAll)
             : packAll();
}

void DotProductEmitter::packColumnsOf(const PackedBlock &columns, Value start, Value pitch) {
  Value groups = countGroups(columns);
  auto pack = layout.factors.parts > 1 ? packSplitPanels : packDotProductPanels;
  auto packPanels = [&] {
    pack(emission, form, layout, points, columns, groups, packedColumns, start, pitch);
    if (layout.flipsRows())
      sumDotProductColumns(emission, layout, columns, packedColumns, start, pitch,
                           compare(arith::CmpIPredicate::ne, getBlock(), emission.getConstant(0)), columnSums);
  };
  packOrRead(columns, groups, start, packPanels);
}

/// Groups of all steps of a panel, or of a strip, which is as high, follow each other.
Value DotProductEmitter::getStoredStart(Value column, Value step) {
  Value steps = emission.getConstant(layout.getStepsOfGroup());
  Value panel = emission.divide(column, emission.getConstant(width));
  Value number =
      emission.add(emission.multiply(panel, emission.ceilDivide(depthTotal, steps)), emission.divide(step, steps));
  return emission.multiply(number, emission.getConstant(layout.getGroupElements()));
}

/// Words may be those of a larger matrix, of which the product multiplies some steps.
Value DotProductEmitter::getWordsStart(Value column, Value step) {
  Positions positions = points.outer;
  positions.push_back({points.n, column});
  positions.push_back({points.k, step});
  return emission.getIndex(points.getLinearIndex(form, *form.getInput(form.rhs)), positions);
}

Value DotProductEmitter::getColumns(Value panel, Value group) {
  Value start = emission.add(panel, emission.multiply(group, emission.getConstant(layout.getGroupElements())));
  if (!storedColumns)
    return emission.getPointer(packedColumns, start);
  // Parts are in memory as words.
  return emission.getPointer(storedColumns, layout.factors.parts > 1
                                                ? emission.divide(start, emission.getConstant(layout.getStepsOfWord()))
                                                : start);
}

void DotProductEmitter::multiplyPacked(const Panel &columns, Value sums) {
  Value panel = getCopy(), groups = countGroups(columns);
  if (!panel)
    panel = form.areColumnsWords() ? getWordsStart(columns.first, columns.k) : getStoredStart(columns.first, columns.k);
  Value bytesOfGroup = emission.getConstant(layout.factors.parts * layout.groupWords * layout.wordBytes);
  Value groupsOfStrip = groups, rowsAt = rowsStart, memory = packedRows;
  if (storedRows) {
    groupsOfStrip = emission.ceilDivide(depthTotal, emission.getConstant(layout.getStepsOfGroup()));
    rowsAt = getStoredStart(rows.first, columns.k);
    memory = storedRows;
  }
  Value stripBytes = emission.multiply(groupsOfStrip, bytesOfGroup);
  Value strip = emission.divide(columns.piece.firstRow, emission.getConstant(layout.unit));
  Value ofStrip = emission.multiply(groupsOfStrip, emission.getConstant(layout.getGroupElements()));
  rowsAt = emission.add(rowsAt, emission.multiply(strip, ofStrip));
  // Equal shares: a strip waits for its sums once a call.
  Value calls = emission.ceilDivide(groups, emission.getConstant(layout.groups));
  Value share = emission.ceilDivide(groups, calls);
  if (pairsPanels)
    calls = select(conjoin(pairsPanels, isSecondOfPair(columns.place)), emission.getConstant(0), calls);
  emission.forRange(emission.getConstant(0), calls, 1, [&](Value number) {
    Value group = emission.multiply(number, share);
    Value count = emission.minimum(share, emission.subtract(groups, group));
    Value start = emission.multiply(group, emission.getConstant(layout.getGroupElements()));
    SmallVector<Value> operands = {toWord(columns.piece.rowCount),
                                   toWord(countMultiplied(columns, group, count)),
                                   emission.getPointer(memory, emission.add(rowsAt, start)),
                                   toWord(stripBytes),
                                   getColumns(panel, group),
                                   emission.getPointer(accumulators, sums),
                                   toWord(emission.add(getBlock(), group))};
    if (layout.summedBy == tile::DotProductUnit::tiles) {
      pairsPanels ? addPair(operands, columns, group) : addAhead(operands, columns, group, panel);
    } else if (tiles.directType) {
      Value next = emission.add(number, emission.getConstant(1));
      auto [first, pitch] = getResults(columns, compare(arith::CmpIPredicate::eq, next, calls));
      operands.append({first, pitch, toWord(columns.count), getExcess(columns.first)});
    }
    auto call = [&](func::FuncOp function, func::FuncOp narrow) {
      auto callThis = [&](func::FuncOp one) { func::CallOp::create(builder, location, one, operands); };
      if (!narrow)
        return callThis(function);
      Value isNarrow = compare(arith::CmpIPredicate::sle, columns.count, emission.getConstant(width / 2));
      emitIf(
          isNarrow, [&] { callThis(narrow); }, [&] { callThis(function); });
    };
    if (!keepsRowsInPlace)
      return call(kernel, narrowKernel);
    auto callInPlace = [&] {
      constexpr unsigned rowsOperand = 2, bytesOperand = 3, maskOperand = 7;
      Value step = emission.add(columns.k, emission.multiply(group, emission.getConstant(layout.getStepsOfGroup())));
      llvm::SaveAndRestore packed(operands);
      operands[rowsOperand] =
          getElement(*rowsInPlace, points.m, emission.add(rows.first, columns.piece.firstRow), step);
      operands[bytesOperand] = getBytes(rowsInPlace->across);
      operands.insert(operands.begin() + maskOperand, getMaskOfLast(columns, group, count));
      call(inPlaceKernel, narrowInPlaceKernel);
    };
    emitIf(keepsRowsInPlace, callInPlace, [&] { call(kernel, narrowKernel); });
  });
  if (layout.factors.parts > 1)
    emitInLastBlock([&] { repeatWithoutParts(sums, columns); });
}

Value DotProductEmitter::getPassing(Value place, Value block, Value group) {
  return getColumns(getStoredStart(getColumn(place), emission.multiply(block, depthStep)), group);
}

/// Of panels that pass by, the groups that follow, and the second of a pair. A last one alone is its own second, so
/// that its sums have the same bits.
void DotProductEmitter::addPair(SmallVectorImpl<Value> &operands, const Panel &columns, Value group) {
  Value size = emission.getConstant(width);
  Panel last = columns;
  last.place = emission.add(columns.place, size);
  last.place = select(conjoin(pairsPanels, compare(arith::CmpIPredicate::slt, last.place, lastPlace)), last.place,
                      columns.place);
  auto [next, nextBlock] = getNext(last);
  Value second = emission.add(next, size);
  second = select(compare(arith::CmpIPredicate::slt, second, columnTotal), second, next);
  Value none = getNull();
  operands.append({getPassing(next, nextBlock, group), toWord(emission.getConstant(0)),
                   select(pairsPanels, getPassing(last.place, getBlock(), group), none),
                   emission.getPointer(accumulators, getSums(last.place)), getPassing(second, nextBlock, group)});
}

/// The address of the rows of memory that the next panel has at these steps, and the bytes from one to the next; a
/// panel that stays packed is prefetched itself. Columns that lie along k are not.
void DotProductEmitter::addAhead(SmallVectorImpl<Value> &operands, const Panel &columns, Value group, Value panel) {
  auto [address, pitch] = getAhead(columns, group, panel);
  Value none = getNull();
  operands.append({address, toWord(pitch), none, none, none});
}

std::pair<Value, Value> DotProductEmitter::getAhead(const Panel &columns, Value group, Value panel) {
  Value zero = emission.getConstant(0);
  std::pair<Value, Value> none = {getColumns(panel, zero), zero};
  if (layout.factors.parts == 1)
    return none;
  auto [place, next] = getNext(columns);
  Value column = getColumn(place);
  unsigned input = *form.getInput(form.rhs);
  sym::Expr linear = points.getLinearIndex(form, input);
  std::optional<sym::Expr> alongDepth = tile::getStride(linear, points.k);
  if (!alongDepth || alongDepth->isConstant(1))
    return none;
  Value step = emission.add(emission.multiply(next, depthStep),
                            emission.multiply(group, emission.getConstant(layout.getStepsOfGroup())));
  Positions positions = points.outer;
  positions.push_back({points.n, column});
  positions.push_back({points.k, step});
  Value stored =
      emission.getPointer(emission.getBuffer(form.compute.getInputs()[input]), emission.getIndex(linear, positions));
  Value packed = emission.add(getPanelStart(columns, place, next),
                              emission.multiply(group, emission.getConstant(layout.getGroupElements())));
  Value isNew = areColumnsNew(columns);
  Value bytesOfStep = emission.multiply(emission.getSize(*alongDepth), emission.getConstant(4));
  // Two lines of three.
  Value bytesOfRow = emission.getConstant(layout.getGroupElements() * 2 / layout.getStepsOfGroup());
  return {select(isNew, stored, emission.getPointer(packedColumns, packed)), select(isNew, bytesOfStep, bytesOfRow)};
}

/// Sums that are no numbers are computed again of the elements themselves: the parts of an infinite one are infinite
/// and no number.
void DotProductEmitter::repeatWithoutParts(Value sums, const PackedBlock &columns) {
  constexpr int64_t lanes = tile::DotProductLayout::rowWords;
  auto type = VectorType::get({lanes}, tiles.sumType);
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  emission.forRange(zero, rows.count, 1, [&](Value row) {
    Value start = emission.add(sums, emission.multiply(row, emission.getConstant(width)));
    Value halves[] = {start, emission.add(start, emission.getConstant(lanes))};
    auto load = [&](Value at) -> Value { return vector::LoadOp::create(builder, location, type, accumulators, at); };
    Value isNone =
        arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, load(halves[0]), load(halves[1]));
    emitIf(vector::ReductionOp::create(builder, location, vector::CombiningKind::OR, isNone), [&] {
      for (auto [number, at] : llvm::enumerate(halves)) {
        Value before = emission.getConstant(static_cast<int64_t>(number) * lanes);
        Value left = emission.maximum(zero, emission.subtract(columns.count, before));
        Value mask = emission.getTailMask(lanes, left);
        Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
        auto loop = scf::ForOp::create(builder, location, zero, depthTotal, one, ValueRange{zeros});
        {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPointToStart(loop.getBody());
          LanePoints place{points.loops, points.outer, points.n, static_cast<unsigned>(lanes), mask};
          place.positions.push_back({points.m, emission.add(rows.first, row)});
          place.positions.push_back({points.n, emission.add(columns.first, before)});
          place.positions.push_back({points.k, loop.getInductionVar()});
          BodyVectorizer body(emission, form.compute, std::move(place));
          Value lhs = body.getVector(form.lhs), rhs = body.getVector(form.rhs);
          Value sum = vector::FMAOp::create(builder, location, lhs, rhs, loop.getRegionIterArg(0));
          scf::YieldOp::create(builder, location, sum);
        }
        vector::StoreOp::create(builder, location, loop.getResult(0), accumulators, at);
      }
    });
  });
}

Value DotProductEmitter::getNull() {
  return LLVM::ZeroOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()));
}

std::pair<Value, Value> DotProductEmitter::getResults(const Panel &columns, Value isLast) {
  Value next = emission.add(getBlock(), emission.getConstant(1));
  isLast = conjoin(isLast, compare(arith::CmpIPredicate::eq, next, depthBlocks));
  int64_t bytes = tiles.directType.getIntOrFloatBitWidth() / 8;
  return {select(isLast, getResultAddress(columns.piece.firstRow, columns.first), getNull()),
          toWord(emission.getSize(*form.getRowStride(width) * bytes))};
}

/// Sums of updates alone stay in scratch where others are results.
void DotProductEmitter::followSums(llvm::function_ref<void()> follow) {
  if (!tiles.directType)
    follow();
  else if (computesRuns)
    emitIf(computesRuns, follow);
}

Value DotProductEmitter::correctSums(Value sums, Value column) {
  if (!layout.flipsRows())
    return sums;
  Value excess = vector::LoadOp::create(builder, location, cast<VectorType>(sums.getType()), columnSums, column);
  return arith::SubIOp::create(builder, location, sums, excess);
}

std::unique_ptr<ContractionEmitter> freestone::codegen::makeDotProducts(Emission &emission, tile::ContractionForm form,
                                                                        tile::ContractionTiles tiles) {
  return std::make_unique<DotProductEmitter>(emission, std::move(form), std::move(tiles));
}
