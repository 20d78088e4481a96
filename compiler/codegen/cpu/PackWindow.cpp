#include "compiler/codegen/cpu/Pack.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// Lanes [first, last) of a vector, whose columns are contiguous in memory.
struct Run {
  Value first, last;
  /// The positions of the column loops at the run's first lane.
  Positions columns;
  /// The memory index of lane 0 at the first step of k.
  Value base;
};

class WindowPacker {
public:
  WindowPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
               const PackedBlock &block, Value memory, Value start, int64_t width);

  /// Packs with at most `runs` runs a vector.
  void pack(unsigned runs);

private:
  SmallVector<Run> getRuns(Value column, unsigned count);
  void packTap(ArrayRef<Run> runs, Value column, const Positions &taps, Value tap);
  Value getMask(const Run &run, const Positions &taps);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  Value memory, start;
  int64_t width;
  unsigned input, lanes;
  graph::TensorType type;
  int64_t taps;
  /// Strides of loops in memory.
  tile::LinearIndex linear;
  /// Symbols of the loops of columns and of k, and the coordinates of the operand over them.
  SmallVector<Expr> columnSymbols, stepSymbols, loops, indices;
};

} // namespace

WindowPacker::WindowPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                           const PackedBlock &block, Value memory, Value start, int64_t width)
    : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
      block(block), memory(memory), start(start), width(width), input(*form.getInput(form.rhs)), lanes(points.lanes),
      type(form.compute.getInputType(input)), taps(*form.getWindowTaps()),
      linear(*tile::getStrides(form.compute, input)), loops(points.loops) {
  for (auto [number, loop] : llvm::enumerate(form.n))
    columnSymbols.push_back(loops[loop] = emission.getPositionSymbol("n" + std::to_string(number)));
  for (auto [number, loop] : llvm::enumerate(form.k))
    stepSymbols.push_back(loops[loop] = emission.getPositionSymbol("k" + std::to_string(number)));
  indices = tile::getIndices(form.compute, input, loops);
}

SmallVector<Run> WindowPacker::getRuns(Value column, unsigned count) {
  SmallVector<Run> runs;
  Value length = emission.getSize(form.getExtents(form.n).back());
  Value end = emission.maximum(emission.getConstant(0),
                               emission.minimum(emission.getConstant(lanes), emission.subtract(block.count, column)));
  Value number = emission.add(block.first, column), lane = emission.getConstant(0);
  Expr first = tile::getLinearIndex(type, indices).substitute([&](StringRef name) -> std::optional<Expr> {
    for (Expr step : stepSymbols)
      if (step.asSymbol() == name)
        return Expr::constant(builder.getContext(), 0);
    return std::nullopt;
  });
  for (unsigned i = 0; i < count; ++i) {
    Run run;
    SmallVector<Value> digits = emission.unravel(emission.add(number, lane), form.getExtents(form.n));
    for (auto [symbol, digit] : llvm::zip_equal(columnSymbols, digits))
      run.columns.push_back({symbol, digit});
    run.first = lane;
    run.last = lane = emission.minimum(end, emission.add(lane, emission.subtract(length, digits.back())));
    Positions positions = points.outer;
    llvm::append_range(positions, run.columns);
    run.base = emission.subtract(emission.getIndex(first, positions), run.first);
    runs.push_back(std::move(run));
  }
  return runs;
}

/// Lanes of the run that are in bounds at this tap.
Value WindowPacker::getMask(const Run &run, const Positions &taps) {
  Positions positions = points.outer;
  llvm::append_range(positions, run.columns);
  llvm::append_range(positions, taps);
  Value first = run.first, last = run.last;
  if (form.compute.getFill(input))
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
      std::optional<Expr> alongRow = tile::getStride(index, columnSymbols.back());
      bool plain = llvm::is_contained(loops, index) &&
                   form.compute.getExtents()[llvm::find(loops, index) - loops.begin()] == extent;
      if (plain)
        continue;
      Value at = emission.getIndex(index, positions), size = emission.getSize(extent);
      if (alongRow->isConstant(0)) {
        // Unsigned, so that a negative coordinate compares as a large one.
        Value inside = compare(arith::CmpIPredicate::ult, at, size);
        last = arith::SelectOp::create(builder, location, inside, last, first);
        continue;
      }
      Value start = emission.subtract(run.first, at);
      first = emission.maximum(first, start);
      last = emission.minimum(last, emission.add(start, size));
    }
  // In an empty run, `last` is not above `first`.
  Value before = emission.getTailMask(lanes, emission.minimum(first, last)), until = emission.getTailMask(lanes, last);
  return arith::XOrIOp::create(builder, location, before, until);
}

void WindowPacker::packTap(ArrayRef<Run> runs, Value column, const Positions &taps, Value tap) {
  SmallVector<Value> masks, bases;
  Value offset = emission.getConstant(0);
  for (auto [loop, position] : llvm::zip(ArrayRef(form.k).drop_front(), taps))
    offset = emission.add(offset, emission.multiply(position.value, emission.getSize(linear.strides[loop])));
  for (const Run &run : runs) {
    masks.push_back(getMask(run, taps));
    bases.push_back(emission.add(run.base, offset));
  }
  Value count = emission.getConstant(this->taps);
  Value firstStep = emission.divide(block.k, count), steps = emission.divide(block.depth, count);
  Value stride = emission.getSize(linear.strides[form.k.front()]);
  auto vectorType = VectorType::get({lanes}, tile::getStorageType(type.getElementType()));
  TypedAttr fill = form.compute.getFill(input);
  Attribute outside = fill ? Attribute(fill) : Attribute(builder.getZeroAttr(vectorType.getElementType()));
  Value nothing = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vectorType, outside));
  Value source = emission.getBuffer(form.compute.getInputs()[input]);
  emission.forRange(emission.getConstant(0), steps, 1, [&](Value step) {
    Value distance = emission.multiply(emission.add(firstStep, step), stride);
    Value values = nothing;
    for (auto [mask, base] : llvm::zip_equal(masks, bases))
      values = vector::MaskedLoadOp::create(builder, location, vectorType, source, emission.add(base, distance), mask,
                                            values);
    values = widenElements(builder, location, form.rhs, values, form.elementType);
    Value row = emission.add(emission.multiply(step, count), tap);
    vector::StoreOp::create(
        builder, location, values, memory,
        emission.add(start, emission.add(emission.multiply(row, emission.getConstant(width)), column)));
  });
}

void WindowPacker::pack(unsigned runCount) {
  SmallVector<Expr> extents = form.getExtents(ArrayRef(form.k).drop_front());
  emission.forRange(emission.getConstant(0), emission.getConstant(width), lanes, [&](Value column) {
    SmallVector<Run> runs = getRuns(column, runCount);
    emission.forRange(emission.getConstant(0), emission.getConstant(taps), 1, [&](Value tap) {
      Positions positions;
      SmallVector<Value> digits = emission.unravel(tap, extents);
      for (auto [symbol, digit] : llvm::zip_equal(ArrayRef(stepSymbols).drop_front(), digits))
        positions.push_back({symbol, digit});
      packTap(runs, column, positions, tap);
    });
  });
}

void freestone::codegen::packPanelOfWindow(Emission &emission, tile::ContractionForm &form,
                                           const ContractionPoints &points, const PackedBlock &block, Value memory,
                                           Value start, int64_t width, llvm::function_ref<void()> packShortRows) {
  WindowPacker packer(emission, form, points, block, memory, start, width);
  unsigned lanes = points.lanes;
  Expr length = form.getExtents(form.n).back();
  // A vector of consecutive columns overlaps at most ceil((lanes - 1) / r) + 1 rows of r columns.
  auto getLeastLength = [&](unsigned runs) { return llvm::divideCeil(lanes - 1, runs - 1); };
  auto emitUpTo = [&](unsigned runs, llvm::function_ref<void()> otherwise) {
    int64_t least = getLeastLength(runs);
    if (std::optional<int64_t> constant = length.asConstant()) {
      *constant >= least ? packer.pack(runs) : otherwise();
      return;
    }
    Value fits = arith::CmpIOp::create(emission.builder, emission.location, arith::CmpIPredicate::sge,
                                       emission.getSize(length), emission.getConstant(least));
    auto branch = scf::IfOp::create(emission.builder, emission.location, fits, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(emission.builder);
    emission.builder.setInsertionPointToStart(branch.thenBlock());
    packer.pack(runs);
    emission.builder.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  };
  emitUpTo(2, [&] { emitUpTo(4, packShortRows); });
}
