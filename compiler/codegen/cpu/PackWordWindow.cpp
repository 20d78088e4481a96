#include "compiler/codegen/cpu/WordWindowPacker.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// Bytes of rows that are joined to words while L1 has them.
static constexpr int64_t bytesAtOnce = 16384;

WordWindowPacker::WordWindowPacker(Emission &emission, tile::ContractionForm &form, const WordRows &rows,
                                   const ContractionPoints &points, const PackedBlock &block, Value memory)
    : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
      block(block), memory(memory), window(*form.getWordWindow()), type(form.compute.getInputType(window.input)),
      linear(*tile::getStrides(form.compute, window.input)), lanes(rows.lanes), stepsOfWord(rows.stepsOfWord),
      elementType(rows.elementType), storedType(tile::getStorageType(type.getElementType())),
      rowType(VectorType::get({lanes}, elementType)), areMasksSlow(rows.areMasksSlow),
      positions(window.isAlongDepth ? form.k : form.n), steps(window.isAlongDepth ? form.n : form.k),
      loops(points.loops) {
  for (auto [number, loop] : llvm::enumerate(positions))
    positionSymbols.push_back(loops[loop] = emission.getPositionSymbol("p" + std::to_string(number)));
  for (auto [number, loop] : llvm::enumerate(steps))
    stepSymbols.push_back(loops[loop] = emission.getPositionSymbol("t" + std::to_string(number)));
  indices = tile::getIndices(form.compute, window.input, loops);
}

/// Rows of elements at all taps of the steps that are packed. What the last tap alone decides, which moves along the
/// row, is computed once for all others.
void WordWindowPacker::packTaps(const PositionRun &run, Value start) {
  ArrayRef<unsigned> inner = steps.drop_front();
  Value zero = emission.getConstant(0);
  if (inner.empty())
    return packTap(run, nullptr, zero, zero, start);
  emission.forRange(zero, emission.getSize(form.getExtent(inner.back())), 1, [&](Value lastTap) {
    std::optional<LoadedLanes> loaded;
    if (movesWithLastTap()) {
      Positions taps;
      for (Expr symbol : ArrayRef(stepSymbols).drop_front())
        taps.push_back({symbol, symbol == stepSymbols.back() ? lastTap : zero});
      loaded = getLoaded(run, taps);
    }
    emission.forRange(zero, emission.getSize(form.getExtent(inner.drop_back())), 1,
                      [&](Value otherTaps) { packTap(run, loaded ? &*loaded : nullptr, lastTap, otherTaps, start); });
  });
}

/// Rows of elements, one for each step at this tap; `known` are its lanes, if they are. What follows the run's
/// positions is written again by later runs.
void WordWindowPacker::packTap(const PositionRun &run, const LoadedLanes *known, Value lastTap, Value otherTaps,
                               Value start) {
  Positions taps;
  ArrayRef<unsigned> inner = steps.drop_front();
  Value zero = emission.getConstant(0), base = run.base, tap = zero;
  if (!inner.empty()) {
    tap = emission.add(emission.multiply(otherTaps, emission.getSize(form.getExtent(inner.back()))), lastTap);
    SmallVector<Value> digits = emission.unravel(otherTaps, form.getExtents(inner.drop_back()));
    digits.push_back(lastTap);
    for (auto [symbol, loop, digit] : llvm::zip_equal(ArrayRef(stepSymbols).drop_front(), inner, digits)) {
      taps.push_back({symbol, digit});
      base = emission.add(base, emission.multiply(digit, emission.getSize(linear.strides[loop])));
    }
  }
  LoadedLanes loaded = known ? *known : getLoaded(run, taps);
  Value inside = isInside(run, taps), loadFirst = loaded.first, loadLast = loaded.last, bits = loaded.bits;
  if (inside) {
    loadLast = arith::SelectOp::create(builder, location, inside, loadLast, loadFirst);
    if (bits)
      bits = arith::SelectOp::create(builder, location, inside, bits,
                                     arith::ConstantOp::create(builder, location, builder.getZeroAttr(bits.getType())));
  }
  Value source = emission.getBuffer(form.compute.getInputs()[window.input]);
  // The steps of the outermost loop among those that are packed: of any step, those before it have one more at its taps
  // before.
  Value count = emission.getSize(form.getExtent(inner));
  auto countBefore = [&](Value step) {
    Value whole = emission.divide(step, count), rest = emission.subtract(step, emission.multiply(whole, count));
    Value isBefore = compare(arith::CmpIPredicate::slt, tap, rest);
    return emission.add(whole, arith::SelectOp::create(builder, location, isBefore, emission.getConstant(1), zero));
  };
  Value begin = countBefore(firstStep), end = countBefore(emission.add(firstStep, stepCount));
  Value pitch = emission.getSize(linear.strides[steps.front()]);
  auto packSteps = [&](Value loadMask, Value storeMask) {
    emission.forRange(begin, end, 1, [&](Value step) {
      Value row = emission.subtract(emission.add(emission.multiply(step, count), tap), firstStep);
      Value values = loadRow(source, emission.add(base, emission.multiply(step, pitch)), loadMask);
      storeRow(values, getRow(start, row), storeMask);
    });
  };
  auto packMasked = [&] {
    int64_t elements = lanes * window.stride;
    auto [from, to] = getLoadedElements(loadFirst, loadLast);
    packSteps(bits ? asMask(elements, bits) : getMask(elements, from, to),
              getMask(lanes, run.first, emission.getConstant(lanes)));
  };
  if (!areMasksSlow)
    return packMasked();
  Value isWhole = arith::AndIOp::create(builder, location, compare(arith::CmpIPredicate::eq, loadFirst, zero),
                                        compare(arith::CmpIPredicate::sge, loadLast, emission.getConstant(lanes)));
  auto branch = scf::IfOp::create(builder, location, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  packSteps(/*loadMask=*/{}, /*storeMask=*/{});
  builder.setInsertionPointToStart(branch.elseBlock());
  packMasked();
}

/// A row for each step, of `count` positions from `number` on.
void WordWindowPacker::packRuns(Value number, Value count, Value start) {
  SmallVector<Expr> extents = form.getExtents(positions);
  Value length = emission.getSize(extents.back()), zero = emission.getConstant(0);
  Expr atFirstStep = tile::getLinearIndex(type, indices).substitute([&](StringRef name) -> std::optional<Expr> {
    for (Expr step : stepSymbols)
      if (step.asSymbol() == name)
        return Expr::constant(builder.getContext(), 0);
    return std::nullopt;
  });
  Value firstRow = emission.divide(number, length);
  Value isEmpty = compare(arith::CmpIPredicate::eq, count, zero);
  Value end = arith::SelectOp::create(builder, location, isEmpty, firstRow,
                                      emission.ceilDivide(emission.add(number, count), length));
  emission.forRange(firstRow, end, 1, [&](Value row) {
    Value begin = emission.multiply(row, length), from = emission.maximum(begin, number);
    PositionRun run;
    run.first = emission.subtract(from, number);
    run.last = emission.minimum(count, emission.subtract(emission.add(begin, length), number));
    SmallVector<Value> digits = emission.unravel(row, ArrayRef(extents).drop_back());
    digits.push_back(emission.subtract(from, begin));
    for (auto [symbol, digit] : llvm::zip_equal(positionSymbols, digits))
      run.at.push_back({symbol, digit});
    Positions all = points.outer;
    llvm::append_range(all, run.at);
    run.base = emission.subtract(emission.getIndex(atFirstStep, all),
                                 emission.multiply(run.first, emission.getConstant(window.stride)));
    packTaps(run, start);
  });
}

void WordWindowPacker::clearRows(Value first, Value end, Value start) {
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(rowType));
  emission.forRange(first, end, 1,
                    [&](Value row) { vector::StoreOp::create(builder, location, zeros, memory, getRow(start, row)); });
}

/// Rows of the neighbouring steps of a word become words, in place.
void WordWindowPacker::joinWords(Value words, Value start) {
  auto bitsType = VectorType::get({lanes}, builder.getIntegerType(elementType.getIntOrFloatBitWidth()));
  emission.forRange(emission.getConstant(0), words, 1, [&](Value word) {
    Value at = getRow(start, emission.multiply(word, emission.getConstant(stepsOfWord)));
    SmallVector<Value> rows;
    for (int64_t step = 0; step < stepsOfWord; ++step)
      rows.push_back(load(emission.add(at, emission.getConstant(step * lanes)), bitsType));
    auto [lower, upper] = joinRows(builder, location, rows);
    store(lower, at);
    store(upper, emission.add(at, emission.getConstant(lanes / 2 * stepsOfWord)));
  });
}

/// Rows of a column each, whose steps are words already, become rows of a word each, in place.
void WordWindowPacker::transposeGroup(Value start) {
  constexpr int64_t words = tile::DotProductLayout::rowWords;
  auto wordType = VectorType::get({words}, builder.getI32Type());
  SmallVector<Value> squares[2];
  for (int64_t column = 0; column < lanes; ++column)
    squares[column / words].push_back(load(emission.add(start, emission.getConstant(column * lanes)), wordType));
  for (int64_t part = 0; part < 2; ++part) {
    transposeSquare(builder, location, squares[part]);
    for (auto [word, values] : llvm::enumerate(squares[part]))
      store(values, emission.add(start, emission.getConstant((2 * word + part) * words * stepsOfWord)));
  }
}

void WordWindowPacker::packPanel(Value first, Value count, Value words, Value start) {
  Value zero = emission.getConstant(0);
  if (!window.isAlongDepth) {
    // As many steps at a time as L1 has beside their rows of memory: words with all taps.
    int64_t bytesOfStep = lanes * elementType.getIntOrFloatBitWidth() / 8;
    int64_t unit = stepsOfWord * form.getExtent(steps.drop_front()).asConstant().value_or(1);
    int64_t most = std::max<int64_t>(1, bytesAtOnce / (bytesOfStep * unit)) * unit;
    Value all = emission.multiply(words, emission.getConstant(stepsOfWord));
    return emission.forRange(zero, all, most, [&](Value step) {
      Value here = emission.minimum(emission.getConstant(most), emission.subtract(all, step));
      Value place = getRow(start, step);
      firstStep = emission.add(block.k, step);
      stepCount = emission.maximum(zero, emission.minimum(here, emission.subtract(block.depth, step)));
      packRuns(emission.add(block.first, first), count, place);
      clearRows(stepCount, here, place);
      joinWords(emission.divide(here, emission.getConstant(stepsOfWord)), place);
    });
  }
  firstStep = emission.add(block.first, first);
  stepCount = count;
  Value groups = emission.divide(words, emission.getConstant(tile::DotProductLayout::rowWords));
  emission.forRange(zero, groups, 1, [&](Value group) {
    Value step = emission.multiply(group, emission.getConstant(lanes)), all = emission.getConstant(lanes);
    Value place = emission.add(start, emission.multiply(step, all));
    Value left = emission.maximum(zero, emission.minimum(all, emission.subtract(block.depth, step)));
    Value isEmpty = compare(arith::CmpIPredicate::eq, left, zero);
    clearRows(zero, arith::SelectOp::create(builder, location, isEmpty, all, zero), place);
    packRuns(emission.add(block.k, step), left, place);
    transposeGroup(place);
  });
}

void freestone::codegen::packWindowPanels(Emission &emission, tile::ContractionForm &form,
                                          const tile::DotProductLayout &layout, const ContractionPoints &points,
                                          const PackedBlock &block, Value groups, Value memory, Value start,
                                          Value pitch) {
  constexpr int64_t unit = tile::DotProductLayout::unit;
  WordRows rows{unit, layout.getStepsOfWord(), layout.factors.getElementType(emission.builder.getContext()),
                /*areMasksSlow=*/false};
  WordWindowPacker packer(emission, form, rows, points, block, memory);
  Value width = emission.getConstant(unit);
  // Steps of a gradient are words in whole groups.
  Value words = form.getWordWindow()->isAlongDepth
                    ? emission.multiply(groups, emission.getConstant(tile::DotProductLayout::rowWords))
                    : countMultipliedWords(emission, layout, block);
  emission.forRange(emission.getConstant(0), emission.ceilDivide(block.count, width), 1, [&](Value panel) {
    Value first = emission.multiply(panel, width);
    Value count = emission.minimum(width, emission.subtract(block.count, first));
    packer.packPanel(first, count, words, emission.add(start, emission.multiply(panel, pitch)));
  });
}

void freestone::codegen::packPairsOfWindow(Emission &emission, tile::ContractionForm &form,
                                           const ContractionPoints &points, const PackedBlock &block, Value memory,
                                           Value start, int64_t width, bool areMasksSlow) {
  Type halfType = emission.builder.getI16Type();
  Value zero = emission.getConstant(0), two = emission.getConstant(2), words = block.depth;
  PackedBlock steps = block;
  steps.k = emission.multiply(block.k, two);
  Value left = emission.subtract(emission.getSize(form.getExtent(form.k)), steps.k);
  steps.depth = emission.minimum(emission.multiply(words, two), left);
  Value size = emission.multiply(emission.multiply(words, two), emission.getConstant(width));
  Value halves = emission.getMemory(emission.getPointer(memory, start), halfType, size);
  WordWindowPacker packer(emission, form, {width, /*stepsOfWord=*/2, halfType, areMasksSlow}, points, steps, halves);
  packer.packPanel(zero, block.count, words, zero);
}
