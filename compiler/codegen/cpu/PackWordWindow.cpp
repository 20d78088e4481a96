#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// The rows that become words.
struct WordRows {
  /// Positions of a row: columns of a panel, or steps of k of a group.
  int64_t lanes;
  int64_t stepsOfWord;
  /// Of a word, to which elements of memory are widened.
  Type elementType;
  /// Whether masked loads and stores take a branch for each lane.
  bool areMasksSlow;
};

/// Bytes of rows that are joined to words while L1 has them.
constexpr int64_t bytesAtOnce = 16384;

/// Lanes [first, last) of a vector of positions within a row of memory.
struct PositionRun {
  Value first, last;
  /// The positions of their loops at the run's first one.
  Positions at;
  /// The memory index of the vector's first lane, if it were in the run's row, at the first step.
  Value base;
};

/// The lanes [first, last) of a run that a tap of the last loop finds in bounds; the bits of their mask where a
/// register has them.
struct LoadedLanes {
  Value first, last, bits;
};

/// Copies rows of positions, one for each step: of k where positions are columns, else for each column.
class WordWindowPacker {
public:
  WordWindowPacker(Emission &emission, tile::ContractionForm &form, const WordRows &rows,
                   const ContractionPoints &points, const PackedBlock &block, Value memory);

  /// Packs the columns of a panel from column `first` of the block on, `count` of them, in so many rows of words.
  void packPanel(Value first, Value count, Value words, Value start);

private:
  void packRuns(Value number, Value count, Value start);
  void packTaps(const PositionRun &run, Value start);
  void packTap(const PositionRun &run, const LoadedLanes *loaded, Value lastTap, Value otherTaps, Value start);
  LoadedLanes getLoaded(const PositionRun &run, const Positions &taps);
  bool movesWithLastTap();
  Value isInside(const PositionRun &run, const Positions &taps);
  bool isMoving(Expr index) { return !tile::getStride(index, positionSymbols.back())->isConstant(0); }
  bool hasMaskRegister(int64_t elements) const {
    return !areMasksSlow && llvm::is_contained({8, 16, 32, 64}, elements);
  }
  Value getMaskBits(int64_t elements, Value begin, Value end);
  Value asMask(int64_t elements, Value bits);
  Value getMask(int64_t elements, Value begin, Value end);
  std::pair<Value, Value> getLoadedElements(Value first, Value last);
  Value loadRow(Value source, Value at, Value mask);
  void storeRow(Value values, Value at, Value mask);
  void clearRows(Value first, Value end, Value start);
  void joinWords(Value words, Value start);
  void transposeGroup(Value start);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value getRow(Value start, Value row) {
    return emission.add(start, emission.multiply(row, emission.getConstant(lanes)));
  }
  Value load(Value at, VectorType as) {
    return vector::BitCastOp::create(builder, location, as,
                                     vector::LoadOp::create(builder, location, rowType, memory, at));
  }
  void store(Value words, Value at) {
    auto type = VectorType::get({lanes / 2 * stepsOfWord}, elementType);
    vector::StoreOp::create(builder, location, vector::BitCastOp::create(builder, location, type, words), memory, at);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  Value memory;
  tile::WordWindow window;
  graph::TensorType type;
  /// Strides of loops in memory.
  tile::LinearIndex linear;
  int64_t lanes, stepsOfWord;
  Type elementType, storedType;
  VectorType rowType;
  bool areMasksSlow;
  ArrayRef<unsigned> positions, steps;
  /// Symbols of these loops, and the coordinates of the operand over them.
  SmallVector<Expr> positionSymbols, stepSymbols, loops, indices;
  /// The steps that are packed, and the first one.
  Value firstStep, stepCount;
};

} // namespace

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

/// Coordinates that are checked: along a row, those move with the last tap at most, others with other taps.
static bool isChecked(tile::ContractionForm &form, ArrayRef<Expr> loops, Expr index, Expr extent) {
  auto loop = llvm::find(loops, index);
  return loop == loops.end() || form.compute.getExtents()[loop - loops.begin()] != extent;
}

/// Whether the coordinate along a row moves with no tap but the last one.
bool WordWindowPacker::movesWithLastTap() {
  if (stepSymbols.size() < 2)
    return false;
  return llvm::all_of(indices, [&](Expr index) {
    return !isMoving(index) || llvm::all_of(ArrayRef(stepSymbols).drop_front().drop_back(),
                                            [&](Expr symbol) { return tile::getStride(index, symbol)->isConstant(0); });
  });
}

LoadedLanes WordWindowPacker::getLoaded(const PositionRun &run, const Positions &taps) {
  Positions all = points.outer;
  llvm::append_range(all, run.at);
  llvm::append_range(all, taps);
  Value first = run.first, last = run.last, stride = emission.getConstant(window.stride),
        zero = emission.getConstant(0);
  if (form.compute.getFill(window.input))
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
      if (!isChecked(form, loops, index, extent) || !isMoving(index))
        continue;
      // Positions of the run before the first element, and those up to the last one.
      Value at = emission.getIndex(index, all), size = emission.getSize(extent);
      auto countTo = [&](Value end) {
        return emission.ceilDivide(emission.maximum(zero, emission.subtract(end, at)), stride);
      };
      first = emission.maximum(first, emission.add(run.first, countTo(zero)));
      last = emission.minimum(last, emission.add(run.first, countTo(size)));
    }
  // In an empty run, `last` is not above `first`.
  LoadedLanes loaded{emission.minimum(first, last), last, Value()};
  int64_t elements = lanes * window.stride;
  if (hasMaskRegister(elements)) {
    auto [begin, end] = getLoadedElements(loaded.first, loaded.last);
    loaded.bits = getMaskBits(elements, begin, end);
  }
  return loaded;
}

/// Whether the coordinates across rows are within bounds at these taps; null where none is checked.
Value WordWindowPacker::isInside(const PositionRun &run, const Positions &taps) {
  Value inside;
  if (!form.compute.getFill(window.input))
    return inside;
  Positions all = points.outer;
  llvm::append_range(all, run.at);
  llvm::append_range(all, taps);
  for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
    if (!isChecked(form, loops, index, extent) || isMoving(index))
      continue;
    // Unsigned, so that a negative coordinate compares as a large one.
    Value here = compare(arith::CmpIPredicate::ult, emission.getIndex(index, all), emission.getSize(extent));
    inside = inside ? arith::AndIOp::create(builder, location, inside, here).getResult() : here;
  }
  return inside;
}

/// Lanes [begin, end) as bits of an integer. Comparisons of vectors would be made anew for each row that is copied.
Value WordWindowPacker::getMaskBits(int64_t elements, Value begin, Value end) {
  Type i64 = builder.getI64Type(), bitsType = builder.getIntegerType(elements);
  Value one = arith::ConstantIntOp::create(builder, location, 1, 64);
  // 2^count, in two steps of fewer bits than an integer has.
  auto raise = [&](Value count) -> Value {
    Value word = arith::IndexCastOp::create(builder, location, i64, count);
    Value half = arith::ShRUIOp::create(builder, location, word, one);
    Value rest = arith::SubIOp::create(builder, location, word, half);
    return arith::ShLIOp::create(builder, location, arith::ShLIOp::create(builder, location, one, half), rest);
  };
  Value bits = arith::SubIOp::create(builder, location, raise(end), raise(begin));
  return elements < 64 ? arith::TruncIOp::create(builder, location, bitsType, bits).getResult() : bits;
}

Value WordWindowPacker::asMask(int64_t elements, Value bits) {
  Value word = vector::BroadcastOp::create(builder, location, VectorType::get({1}, bits.getType()), bits);
  return vector::BitCastOp::create(builder, location, VectorType::get({elements}, builder.getI1Type()), word);
}

Value WordWindowPacker::getMask(int64_t elements, Value begin, Value end) {
  if (hasMaskRegister(elements))
    return asMask(elements, getMaskBits(elements, begin, end));
  return arith::XOrIOp::create(builder, location, emission.getTailMask(elements, begin),
                               emission.getTailMask(elements, end));
}

/// The elements from the first position to the last one: none after the last position's is read.
std::pair<Value, Value> WordWindowPacker::getLoadedElements(Value first, Value last) {
  Value stride = emission.getConstant(window.stride), gap = emission.getConstant(window.stride - 1);
  Value begin = emission.multiply(first, stride);
  return {begin, emission.maximum(begin, emission.subtract(emission.multiply(last, stride), gap))};
}

/// The elements of all positions; those that are masked, or without a mask all, are in bounds.
Value WordWindowPacker::loadRow(Value source, Value at, Value mask) {
  // Without a mask, two loads of a power of two overlap, so that they end with the last position.
  int64_t count = (lanes - 1) * window.stride + 1, loaded = llvm::bit_floor(static_cast<uint64_t>(count));
  auto elementsType = VectorType::get({mask ? lanes * window.stride : loaded}, storedType);
  Value values;
  if (mask) {
    TypedAttr fill = form.compute.getFill(window.input);
    Attribute number = fill ? Attribute(fill) : Attribute(builder.getZeroAttr(storedType));
    Value outside = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(elementsType, number));
    values = vector::MaskedLoadOp::create(builder, location, elementsType, source, at, mask, outside);
  } else {
    values = vector::LoadOp::create(builder, location, elementsType, source, at);
  }
  if (window.stride > 1) {
    Value last = values;
    if (!mask)
      last = vector::LoadOp::create(builder, location, elementsType, source,
                                    emission.add(at, emission.getConstant(count - loaded)));
    SmallVector<int64_t> everyPosition;
    for (int64_t element = 0; element < count; element += window.stride)
      everyPosition.push_back(mask || element < loaded ? element : element + 2 * loaded - count);
    values = vector::ShuffleOp::create(builder, location, values, last, everyPosition);
  }
  return widenElements(builder, location, form.rhs, values, elementType);
}

void WordWindowPacker::storeRow(Value values, Value at, Value mask) {
  if (mask && !areMasksSlow) {
    vector::MaskedStoreOp::create(builder, location, memory, at, mask, values);
    return;
  }
  if (mask) {
    Value before = vector::LoadOp::create(builder, location, rowType, memory, at);
    values = arith::SelectOp::create(builder, location, mask, values, before);
  }
  vector::StoreOp::create(builder, location, values, memory, at);
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
