#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// Positions of a vector: columns of a panel, or steps of k of a group.
constexpr int64_t lanes = tile::DotProductLayout::unit;

/// Lanes [first, last) of a vector of positions within a row of memory.
struct PositionRun {
  Value first, last;
  /// The positions of their loops at the run's first one.
  Positions at;
  /// The memory index of the vector's first lane, if it were in the run's row, at the first step.
  Value base;
};

/// Copies rows of positions, one for each step: of k where positions are columns, else for each column.
class WordWindowPacker {
public:
  WordWindowPacker(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                   const ContractionPoints &points, const PackedBlock &block, Value memory);

  /// Packs the 32 columns from column `first` of the block on, `count` of them.
  void packPanel(Value first, Value count, Value groups, Value start);

private:
  void packRuns(Value number, Value count, Value start);
  void packTap(const PositionRun &run, Value tap, Value start);
  Value getLoadMask(const PositionRun &run, const Positions &taps);
  void clearRows(Value first, Value end, Value start);
  void joinWords(Value groups, Value start);
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
    auto type = VectorType::get({tile::DotProductLayout::rowWords * stepsOfWord}, elementType);
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
  int64_t stepsOfWord;
  Type elementType;
  VectorType rowType;
  ArrayRef<unsigned> positions, steps;
  /// Symbols of these loops, and the coordinates of the operand over them.
  SmallVector<Expr> positionSymbols, stepSymbols, loops, indices;
  /// The steps that are packed, and the first one.
  Value firstStep, stepCount;
};

} // namespace

WordWindowPacker::WordWindowPacker(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                                   const ContractionPoints &points, const PackedBlock &block, Value memory)
    : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
      block(block), memory(memory), window(*form.getWordWindow()), type(form.compute.getInputType(window.input)),
      linear(*tile::getStrides(form.compute, window.input)), stepsOfWord(layout.getStepsOfWord()),
      elementType(layout.factors.getElementType(builder.getContext())), rowType(VectorType::get({lanes}, elementType)),
      positions(window.isAlongDepth ? form.k : form.n), steps(window.isAlongDepth ? form.n : form.k),
      loops(points.loops) {
  for (auto [number, loop] : llvm::enumerate(positions))
    positionSymbols.push_back(loops[loop] = emission.getPositionSymbol("p" + std::to_string(number)));
  for (auto [number, loop] : llvm::enumerate(steps))
    stepSymbols.push_back(loops[loop] = emission.getPositionSymbol("t" + std::to_string(number)));
  indices = tile::getIndices(form.compute, window.input, loops);
}

/// The elements from the run's first position to its last one, within bounds at this tap.
Value WordWindowPacker::getLoadMask(const PositionRun &run, const Positions &taps) {
  Positions all = points.outer;
  llvm::append_range(all, run.at);
  llvm::append_range(all, taps);
  Value first = run.first, last = run.last, stride = emission.getConstant(window.stride);
  if (form.compute.getFill(window.input))
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
      bool isPlain = llvm::is_contained(loops, index) &&
                     form.compute.getExtents()[llvm::find(loops, index) - loops.begin()] == extent;
      if (isPlain)
        continue;
      Value at = emission.getIndex(index, all), size = emission.getSize(extent);
      if (tile::getStride(index, positionSymbols.back())->isConstant(0)) {
        // Unsigned, so that a negative coordinate compares as a large one.
        Value inside = compare(arith::CmpIPredicate::ult, at, size);
        last = arith::SelectOp::create(builder, location, inside, last, first);
        continue;
      }
      // Positions of the run before the first element, and those up to the last one.
      Value zero = emission.getConstant(0);
      auto countTo = [&](Value end) {
        return emission.ceilDivide(emission.maximum(zero, emission.subtract(end, at)), stride);
      };
      first = emission.maximum(first, emission.add(run.first, countTo(zero)));
      last = emission.minimum(last, emission.add(run.first, countTo(size)));
    }
  // In an empty run, `last` is not above `first`. No element after the last position's is read.
  unsigned elements = lanes * window.stride;
  Value begin = emission.multiply(emission.minimum(first, last), stride);
  Value gap = emission.getConstant(window.stride - 1);
  Value end = emission.maximum(begin, emission.subtract(emission.multiply(last, stride), gap));
  Value before = emission.getTailMask(elements, begin), until = emission.getTailMask(elements, end);
  return arith::XOrIOp::create(builder, location, before, until);
}

/// Rows of elements, one for each step at this tap. What follows the run's positions is written again by later runs.
void WordWindowPacker::packTap(const PositionRun &run, Value tap, Value start) {
  Positions taps;
  ArrayRef<unsigned> inner = steps.drop_front();
  SmallVector<Value> digits = emission.unravel(tap, form.getExtents(inner));
  Value base = run.base;
  for (auto [symbol, loop, digit] : llvm::zip_equal(ArrayRef(stepSymbols).drop_front(), inner, digits)) {
    taps.push_back({symbol, digit});
    base = emission.add(base, emission.multiply(digit, emission.getSize(linear.strides[loop])));
  }
  Value loadMask = getLoadMask(run, taps);
  auto maskType = VectorType::get({lanes}, builder.getI1Type());
  Value all = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(maskType, true));
  Value storeMask = arith::XOrIOp::create(builder, location, emission.getTailMask(lanes, run.first), all);
  auto elementsType = VectorType::get({lanes * window.stride}, elementType);
  TypedAttr fill = form.compute.getFill(window.input);
  Value outside = arith::ConstantOp::create(
      builder, location,
      DenseElementsAttr::get(elementsType, fill ? Attribute(fill) : Attribute(builder.getZeroAttr(elementType))));
  Value source = emission.getBuffer(form.compute.getInputs()[window.input]);
  // The steps of the outermost loop among those that are packed.
  Value zero = emission.getConstant(0), count = emission.getSize(form.getExtent(inner));
  auto countBefore = [&](Value step) {
    return emission.ceilDivide(emission.maximum(zero, emission.subtract(step, tap)), count);
  };
  Value pitch = emission.getSize(linear.strides[steps.front()]);
  SmallVector<int64_t> everyPosition;
  for (int64_t position = 0; position < lanes; ++position)
    everyPosition.push_back(position * window.stride);
  emission.forRange(countBefore(firstStep), countBefore(emission.add(firstStep, stepCount)), 1, [&](Value step) {
    Value values = vector::MaskedLoadOp::create(builder, location, elementsType, source,
                                                emission.add(base, emission.multiply(step, pitch)), loadMask, outside);
    if (window.stride > 1)
      values = vector::ShuffleOp::create(builder, location, values, values, everyPosition);
    Value row = emission.subtract(emission.add(emission.multiply(step, count), tap), firstStep);
    vector::MaskedStoreOp::create(builder, location, memory, getRow(start, row), storeMask, values);
  });
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
    // The taps of the steps that are packed, from that of the first one on.
    Value taps = emission.maximum(emission.getConstant(1), emission.getSize(form.getExtent(steps.drop_front())));
    Value first = emission.subtract(firstStep, emission.multiply(emission.divide(firstStep, taps), taps));
    emission.forRange(zero, emission.minimum(taps, stepCount), 1, [&](Value number) {
      Value tap = emission.add(first, number), wrapped = emission.subtract(tap, taps);
      Value wraps = compare(arith::CmpIPredicate::sge, tap, taps);
      packTap(run, arith::SelectOp::create(builder, location, wraps, wrapped, tap), start);
    });
  });
}

void WordWindowPacker::clearRows(Value first, Value end, Value start) {
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(rowType));
  emission.forRange(first, end, 1,
                    [&](Value row) { vector::StoreOp::create(builder, location, zeros, memory, getRow(start, row)); });
}

/// Rows of the neighbouring steps of a word become words, in place.
void WordWindowPacker::joinWords(Value groups, Value start) {
  constexpr int64_t words = tile::DotProductLayout::rowWords;
  auto bitsType = VectorType::get({lanes}, builder.getIntegerType(elementType.getIntOrFloatBitWidth()));
  emission.forRange(emission.getConstant(0), emission.multiply(groups, emission.getConstant(words)), 1,
                    [&](Value word) {
                      Value at = getRow(start, emission.multiply(word, emission.getConstant(stepsOfWord)));
                      SmallVector<Value> rows;
                      for (int64_t step = 0; step < stepsOfWord; ++step)
                        rows.push_back(load(emission.add(at, emission.getConstant(step * lanes)), bitsType));
                      auto [lower, upper] = joinRows(builder, location, rows);
                      store(lower, at);
                      store(upper, emission.add(at, emission.getConstant(words * stepsOfWord)));
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

void WordWindowPacker::packPanel(Value first, Value count, Value groups, Value start) {
  Value zero = emission.getConstant(0);
  if (!window.isAlongDepth) {
    firstStep = block.k;
    stepCount = block.depth;
    packRuns(emission.add(block.first, first), count, start);
    Value steps = emission.multiply(groups, emission.getConstant(stepsOfWord * tile::DotProductLayout::rowWords));
    clearRows(block.depth, steps, start);
    return joinWords(groups, start);
  }
  firstStep = emission.add(block.first, first);
  stepCount = count;
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
  WordWindowPacker packer(emission, form, layout, points, block, memory);
  Value width = emission.getConstant(lanes);
  emission.forRange(emission.getConstant(0), emission.ceilDivide(block.count, width), 1, [&](Value panel) {
    Value first = emission.multiply(panel, width);
    Value count = emission.minimum(width, emission.subtract(block.count, first));
    packer.packPanel(first, count, groups, emission.add(start, emission.multiply(panel, pitch)));
  });
}
