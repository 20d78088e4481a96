#include "compiler/codegen/cpu/PackDotProducts.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

constexpr int64_t panelColumns = tile::DotProductTiles::unit;

/// Columns [first, last) of a panel, counted from its first one, within a row of memory.
struct ByteRun {
  Value first, last;
  /// The positions of the column loops at the run's first column.
  Positions columns;
  /// The memory index of the panel's first column, if it were in the run's row, at the first step of k.
  Value base;
};

class WordWindowPacker {
public:
  WordWindowPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                   const PackedBlock &block, Value memory);

  /// Packs the 32 columns from column `first` of the block on, `count` of them.
  void packPanel(Value first, Value count, Value groups, Value start);

private:
  void packRuns(Value first, Value count, Value start);
  void packTap(const ByteRun &run, Value tap, Value start);
  Value getLoadMask(const ByteRun &run, const Positions &taps);
  void joinWords(Value groups, Value start);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value getRow(Value start, Value step) {
    return emission.add(start, emission.multiply(step, emission.getConstant(panelColumns)));
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  Value memory;
  tile::ByteWindow window;
  graph::TensorType type;
  /// Strides of loops in memory.
  tile::LinearIndex linear;
  VectorType rowType;
  /// Symbols of the loops of columns and of k, and the coordinates of the operand over them.
  SmallVector<Expr> columnSymbols, stepSymbols, loops, indices;
};

} // namespace

WordWindowPacker::WordWindowPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                   const PackedBlock &block, Value memory)
    : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
      block(block), memory(memory), window(*form.getByteWindow()), type(form.compute.getInputType(window.input)),
      linear(*tile::getStrides(form.compute, window.input)),
      rowType(VectorType::get({panelColumns}, builder.getI8Type())), loops(points.loops) {
  for (auto [number, loop] : llvm::enumerate(form.n))
    columnSymbols.push_back(loops[loop] = emission.getPositionSymbol("n" + std::to_string(number)));
  for (auto [number, loop] : llvm::enumerate(form.k))
    stepSymbols.push_back(loops[loop] = emission.getPositionSymbol("k" + std::to_string(number)));
  indices = tile::getIndices(form.compute, window.input, loops);
}

/// The bytes from the run's first column to its last one, within bounds at this tap.
Value WordWindowPacker::getLoadMask(const ByteRun &run, const Positions &taps) {
  Positions positions = points.outer;
  llvm::append_range(positions, run.columns);
  llvm::append_range(positions, taps);
  Value first = run.first, last = run.last, stride = emission.getConstant(window.stride);
  if (form.compute.getFill(window.input))
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
      bool isPlain = llvm::is_contained(loops, index) &&
                     form.compute.getExtents()[llvm::find(loops, index) - loops.begin()] == extent;
      if (isPlain)
        continue;
      Value at = emission.getIndex(index, positions), size = emission.getSize(extent);
      if (getStride(index, columnSymbols.back())->isConstant(0)) {
        // Unsigned, so that a negative coordinate compares as a large one.
        Value inside = compare(arith::CmpIPredicate::ult, at, size);
        last = arith::SelectOp::create(builder, location, inside, last, first);
        continue;
      }
      // Columns of the run before the first element, and those up to the last one.
      Value zero = emission.getConstant(0);
      auto countTo = [&](Value end) {
        return emission.ceilDivide(emission.maximum(zero, emission.subtract(end, at)), stride);
      };
      first = emission.maximum(first, emission.add(run.first, countTo(zero)));
      last = emission.minimum(last, emission.add(run.first, countTo(size)));
    }
  // In an empty run, `last` is not above `first`. No byte after the last column's is read.
  unsigned bytes = panelColumns * window.stride;
  Value begin = emission.multiply(emission.minimum(first, last), stride);
  Value gap = emission.getConstant(window.stride - 1);
  Value end = emission.maximum(begin, emission.subtract(emission.multiply(last, stride), gap));
  Value before = emission.getTailMask(bytes, begin), until = emission.getTailMask(bytes, end);
  return arith::XOrIOp::create(builder, location, before, until);
}

/// Rows of bytes, a step of k each, at the positions of all steps at this tap. What follows the run's columns is
/// written again by later runs.
void WordWindowPacker::packTap(const ByteRun &run, Value tap, Value start) {
  Positions taps;
  SmallVector<Value> digits = emission.unravel(tap, form.getExtents(ArrayRef(form.k).drop_front()));
  Value base = run.base;
  for (auto [symbol, loop, digit] :
       llvm::zip_equal(ArrayRef(stepSymbols).drop_front(), ArrayRef(form.k).drop_front(), digits)) {
    taps.push_back({symbol, digit});
    base = emission.add(base, emission.multiply(digit, emission.getSize(linear.strides[loop])));
  }
  Value loadMask = getLoadMask(run, taps);
  auto maskType = VectorType::get({panelColumns}, builder.getI1Type());
  Value all = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(maskType, true));
  Value storeMask = arith::XOrIOp::create(builder, location, emission.getTailMask(panelColumns, run.first), all);
  auto bytesType = VectorType::get({panelColumns * window.stride}, builder.getI8Type());
  TypedAttr fill = form.compute.getFill(window.input);
  Value outside = arith::ConstantOp::create(
      builder, location,
      DenseElementsAttr::get(bytesType, fill ? Attribute(fill) : Attribute(builder.getI8IntegerAttr(0))));
  Value source = emission.getBuffer(form.compute.getInputs()[window.input]);
  // The steps of the outermost loop of k within the block: those whose step of k is in [k, k + depth).
  Value zero = emission.getConstant(0), count = emission.getConstant(window.taps);
  auto countBefore = [&](Value step) {
    return emission.ceilDivide(emission.maximum(zero, emission.subtract(step, tap)), count);
  };
  Value pitch = emission.getSize(linear.strides[form.k.front()]);
  SmallVector<int64_t> everyColumn;
  for (int64_t column = 0; column < panelColumns; ++column)
    everyColumn.push_back(column * window.stride);
  emission.forRange(countBefore(block.k), countBefore(emission.add(block.k, block.depth)), 1, [&](Value step) {
    Value values = vector::MaskedLoadOp::create(builder, location, bytesType, source,
                                                emission.add(base, emission.multiply(step, pitch)), loadMask, outside);
    if (window.stride > 1)
      values = vector::ShuffleOp::create(builder, location, values, values, everyColumn);
    Value row = emission.subtract(emission.add(emission.multiply(step, count), tap), block.k);
    vector::MaskedStoreOp::create(builder, location, memory, getRow(start, row), storeMask, values);
  });
}

void WordWindowPacker::packRuns(Value first, Value count, Value start) {
  SmallVector<Expr> extents = form.getExtents(form.n);
  Value length = emission.getSize(extents.back()), zero = emission.getConstant(0);
  Expr atFirstStep = tile::getLinearIndex(type, indices).substitute([&](StringRef name) -> std::optional<Expr> {
    for (Expr step : stepSymbols)
      if (step.asSymbol() == name)
        return Expr::constant(builder.getContext(), 0);
    return std::nullopt;
  });
  Value number = emission.add(block.first, first), firstRow = emission.divide(number, length);
  Value lastRow = emission.divide(emission.subtract(emission.add(number, count), emission.getConstant(1)), length);
  emission.forRange(firstRow, emission.add(lastRow, emission.getConstant(1)), 1, [&](Value row) {
    Value begin = emission.multiply(row, length), from = emission.maximum(begin, number);
    ByteRun run;
    run.first = emission.subtract(from, number);
    run.last = emission.minimum(count, emission.subtract(emission.add(begin, length), number));
    SmallVector<Value> digits = emission.unravel(row, ArrayRef(extents).drop_back());
    digits.push_back(emission.subtract(from, begin));
    for (auto [symbol, digit] : llvm::zip_equal(columnSymbols, digits))
      run.columns.push_back({symbol, digit});
    Positions positions = points.outer;
    llvm::append_range(positions, run.columns);
    run.base = emission.subtract(emission.getIndex(atFirstStep, positions),
                                 emission.multiply(run.first, emission.getConstant(window.stride)));
    emission.forRange(zero, emission.getConstant(window.taps), 1, [&](Value tap) { packTap(run, tap, start); });
  });
}

/// Rows of four neighbouring steps become words, in place.
void WordWindowPacker::joinWords(Value groups, Value start) {
  constexpr int64_t steps = tile::DotProductTiles::wordBytes, words = tile::DotProductTiles::rowWords;
  emission.forRange(
      emission.getConstant(0), emission.multiply(groups, emission.getConstant(words)), 1, [&](Value word) {
        Value at = getRow(start, emission.multiply(word, emission.getConstant(steps)));
        SmallVector<Value> rows;
        for (int64_t step = 0; step < steps; ++step)
          rows.push_back(vector::LoadOp::create(builder, location, rowType, memory,
                                                emission.add(at, emission.getConstant(step * panelColumns))));
        auto [lower, upper] = joinRows(builder, location, rows);
        vector::StoreOp::create(builder, location, lower, memory, at);
        vector::StoreOp::create(builder, location, upper, memory,
                                emission.add(at, emission.getConstant(steps * panelColumns / 2)));
      });
}

void WordWindowPacker::packPanel(Value first, Value count, Value groups, Value start) {
  packRuns(first, count, start);
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(rowType));
  Value steps = emission.multiply(groups, emission.getConstant(4 * tile::DotProductTiles::rowWords));
  emission.forRange(block.depth, steps, 1, [&](Value step) {
    vector::StoreOp::create(builder, location, zeros, memory, getRow(start, step));
  });
  joinWords(groups, start);
}

void freestone::codegen::packWindowPanels(Emission &emission, tile::ContractionForm &form,
                                          const ContractionPoints &points, const PackedBlock &block, Value groups,
                                          Value memory, Value start, Value pitch) {
  WordWindowPacker packer(emission, form, points, block, memory);
  Value width = emission.getConstant(panelColumns);
  emission.forRange(emission.getConstant(0), emission.ceilDivide(block.count, width), 1, [&](Value panel) {
    Value first = emission.multiply(panel, width);
    Value count = emission.minimum(width, emission.subtract(block.count, first));
    packer.packPanel(first, count, groups, emission.add(start, emission.multiply(panel, pitch)));
  });
}
