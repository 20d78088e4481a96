#include "compiler/codegen/cpu/Pack.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

Value freestone::codegen::convertWidth(OpBuilder &builder, Location location, Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  Type to = elementType;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    to = vectorType.clone(elementType);
  bool widens = from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth();
  if (isa<FloatType>(elementType))
    return widens ? arith::ExtFOp::create(builder, location, to, value).getResult()
                  : arith::TruncFOp::create(builder, location, to, value).getResult();
  return widens ? arith::ExtSIOp::create(builder, location, to, value).getResult()
                : arith::TruncIOp::create(builder, location, to, value).getResult();
}

Value freestone::codegen::widenElements(OpBuilder &builder, Location location, Value factor, Value elements,
                                        Type elementType) {
  auto type = cast<VectorType>(elements.getType());
  Operation *first = factor.getDefiningOp();
  while (first && first->getOperand(0).getDefiningOp())
    first = first->getOperand(0).getDefiningOp();
  if (type.getElementType() != elementType && isa_and_nonnull<arith::ExtUIOp>(first))
    return arith::ExtUIOp::create(builder, location, type.clone(elementType), elements);
  return convertWidth(builder, location, elements, elementType);
}

/// A factor's elements at a step of the micro-kernel: of the form's element type, or words of two steps of k for pair
/// products. `at` has the positions of all loops but k.
static Value loadFactor(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points, Value factor,
                        LanePoints at, Value step, tile::PanelsAttr panels = {}) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  auto loadAt = [&](LanePoints at, Value k) {
    at.positions.push_back({points.k, k});
    if (panels)
      keepWithinPanel(emission, at, panels.getWidth());
    return BodyVectorizer(emission, form.compute, std::move(at)).getVector(factor);
  };
  if (points.stepsOfWord == 1)
    return convertWidth(builder, location, loadAt(std::move(at), step), form.elementType);
  auto wordType = VectorType::get({at.lanes}, form.elementType);
  Value one = emission.getConstant(1), first = emission.multiply(step, emission.getConstant(2));
  Value left = emission.subtract(emission.getSize(form.getExtent(form.k)), first);
  if (at.lane == points.k) {
    at.lanes *= 2;
    if (at.mask)
      at.mask = emission.getTailMask(at.lanes, left);
    Value halves = convertWidth(builder, location, loadAt(std::move(at), first), builder.getI16Type());
    return vector::BitCastOp::create(builder, location, wordType, halves);
  }
  // An odd number of steps is padded with zeros.
  Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, one);
  Value low = loadAt(at, first),
        high = loadAt(at, emission.add(first, emission.minimum(one, emission.subtract(left, one))));
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(wordType, value));
  };
  high = arith::SelectOp::create(builder, location, exists, high, splat(0));
  return arith::OrIOp::create(builder, location, arith::AndIOp::create(builder, location, low, splat(0xffff)),
                              arith::ShLIOp::create(builder, location, high, splat(16)));
}

/// Loads a factor's elements at a step of k; the points have the positions of all loops but k.
using LoadAtStep = llvm::function_ref<Value(Value factor, LanePoints at)>;

/// Calls `body` for each step of a block of k, counted from the block's first. Where several loops make k, the
/// innermost is counted on within its extent, since to divide every step costs more than to copy what it has.
static void forSteps(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                     const PackedBlock &block, llvm::function_ref<void(Value step, LoadAtStep load)> body) {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  if (form.k.size() < 2 || points.stepsOfWord > 1)
    return emission.forRange(zero, block.depth, 1, [&](Value step) {
      body(step, [&](Value factor, LanePoints at) {
        return loadFactor(emission, form, points, factor, std::move(at), emission.add(block.k, step));
      });
    });
  ArrayRef<unsigned> around = ArrayRef(form.k).drop_back();
  unsigned innermost = form.k.back();
  sym::Expr run = emission.getPositionSymbol("run"), inRun = emission.getPositionSymbol("in_run");
  SmallVector<sym::Expr> loops = points.loops;
  for (auto [loop, digit] : llvm::zip_equal(around, form.getDigits(around, run)))
    loops[loop] = digit;
  loops[innermost] = inRun;
  Value extent = emission.maximum(one, emission.getSize(form.getExtents({innermost}).front()));
  Value end = emission.add(block.k, block.depth);
  emission.forRange(emission.divide(block.k, extent), emission.ceilDivide(end, extent), 1, [&](Value number) {
    Value begin = emission.multiply(number, extent);
    Value from = emission.maximum(zero, emission.subtract(block.k, begin));
    Value to = emission.minimum(extent, emission.subtract(end, begin)), before = emission.subtract(begin, block.k);
    emission.forRange(from, to, 1, [&](Value position) {
      body(emission.add(before, position), [&](Value factor, LanePoints at) {
        at.loops = loops;
        at.positions.push_back({run, number});
        at.positions.push_back({inRun, position});
        Value elements = BodyVectorizer(emission, form.compute, std::move(at)).getVector(factor);
        return convertWidth(emission.builder, emission.location, elements, form.elementType);
      });
    });
  });
}

/// Whether masked loads of a factor take a branch for each lane: of elements below 32 bits, without AVX-512.
static bool areMasksSlow(tile::ContractionForm &form, const ContractionPoints &points, Value factor) {
  constexpr unsigned wordBits = 32, maskedBits = 512;
  std::optional<unsigned> input = form.getInput(factor);
  return input && points.lanes * form.elementType.getIntOrFloatBitWidth() < maskedBits &&
         tile::getStorageType(form.compute.getInputType(*input).getElementType()).getIntOrFloatBitWidth() < wordBits;
}

/// Calls `body` with vectors of steps of the micro-kernel, and the mask of those that exist; null where all do, if
/// masks are slow.
static void forStepVectors(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                           const PackedBlock &block, Value factor,
                           llvm::function_ref<void(Value step, Value mask)> body) {
  unsigned lanes = points.lanes;
  Value whole = emission.getConstant(0);
  if (areMasksSlow(form, points, factor)) {
    Value words = emission.getConstant(points.stepsOfWord), vector = emission.getConstant(lanes);
    Value all = emission.divide(emission.getSize(form.getExtent(form.k)), words);
    Value here = emission.maximum(whole, emission.minimum(block.depth, emission.subtract(all, block.k)));
    Value end = emission.multiply(emission.divide(here, vector), vector);
    emission.forRange(whole, end, lanes, [&](Value step) { body(step, Value()); });
    whole = end;
  }
  emission.forRange(whole, block.depth, lanes,
                    [&](Value step) { body(step, emission.getTailMask(lanes, emission.subtract(block.depth, step))); });
}

/// Whether rows of A are contiguous in memory (column-major).
static bool areRowsNeighbours(tile::ContractionForm &form, const ContractionPoints &points) {
  std::optional<unsigned> input = form.getInput(form.lhs);
  if (!input)
    return false;
  std::optional<sym::Expr> alongRows = tile::getStride(points.getLinearIndex(form, *input), points.m);
  return alongRows && alongRows->isConstant(1);
}

namespace {

/// Packs one block of rows.
class RowPacker {
public:
  RowPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points, const PackedBlock &block,
            Value memory, Value start, bool isOneVector)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
        block(block), memory(memory), start(start), lanes(points.lanes), isOneVector(isOneVector) {}

  /// Vectors along k, for a single row.
  void packRow();
  /// Vectors along rows, one for each step of k.
  void packColumns();
  /// As packColumns, of many blocks of `height` rows, as far as they are whole; returns their number.
  Value packWholeColumns(Value height);
  /// Vectors along k; squares are transposed in registers.
  void packTransposed();
  /// As packTransposed, of rows that fill no more than half a vector: a vector then has two steps.
  void packHalfTransposed();

private:
  Value load(sym::Expr lane, Value row, Value step, Value mask);
  Value getStoredMask(Value row);
  void store(Value values, Value to, Value mask);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  Value memory, start;
  unsigned lanes;
  /// Whether a vector has all rows of a block.
  bool isOneVector;
};

} // namespace

Value RowPacker::load(sym::Expr lane, Value row, Value step, Value mask) {
  LanePoints at{points.loops, points.outer, lane, lanes, mask};
  at.positions.push_back({points.m, row});
  return loadFactor(emission, form, points, form.lhs, std::move(at), emission.add(block.k, step));
}

/// The lanes of a step that are stored; null for all. Steps are stored in order, so that lanes past the rows of a step
/// are overwritten by the next one. Without AVX-512, masked stores are slow.
Value RowPacker::getStoredMask(Value row) {
  return isOneVector ? Value() : emission.getTailMask(lanes, emission.subtract(block.count, row));
}

void RowPacker::store(Value values, Value to, Value mask) {
  if (mask)
    vector::MaskedStoreOp::create(builder, location, memory, to, mask, values);
  else
    vector::StoreOp::create(builder, location, values, memory, to);
}

void RowPacker::packRow() {
  forStepVectors(emission, form, points, block, form.lhs, [&](Value step, Value mask) {
    vector::StoreOp::create(builder, location, load(points.k, block.first, step, mask), memory,
                            emission.add(start, step));
  });
}

void RowPacker::packColumns() {
  Value zero = emission.getConstant(0);
  forSteps(emission, form, points, block, [&](Value step, LoadAtStep loadAtStep) {
    auto packVector = [&](Value row) {
      LanePoints at{points.loops, points.outer, points.m, lanes,
                    emission.getTailMask(lanes, emission.subtract(block.count, row))};
      at.positions.push_back({points.m, emission.add(block.first, row)});
      Value to = emission.add(start, emission.add(emission.multiply(step, block.count), row));
      store(loadAtStep(form.lhs, std::move(at)), to, getStoredMask(row));
    };
    if (isOneVector)
      packVector(zero);
    else
      emission.forRange(zero, block.count, lanes, packVector);
  });
}

/// Blocks are neighbours in memory: a step of several is read as one run, whose lines are all used at once.
Value RowPacker::packWholeColumns(Value height) {
  constexpr int64_t mostAtOnce = 16;
  Value zero = emission.getConstant(0), whole = emission.divide(block.count, height);
  Value mask = emission.getTailMask(lanes, height), size = emission.multiply(height, block.depth);
  emission.forRange(zero, whole, mostAtOnce, [&](Value begin) {
    Value end = emission.minimum(whole, emission.add(begin, emission.getConstant(mostAtOnce)));
    forSteps(emission, form, points, block, [&](Value step, LoadAtStep loadAtStep) {
      Value inBlock = emission.add(start, emission.multiply(step, height));
      emission.forRange(begin, end, 1, [&](Value number) {
        LanePoints at{points.loops, points.outer, points.m, lanes, mask};
        at.positions.push_back({points.m, emission.add(block.first, emission.multiply(number, height))});
        store(loadAtStep(form.lhs, std::move(at)), emission.add(inBlock, emission.multiply(number, size)), mask);
      });
    });
  });
  return whole;
}

void RowPacker::packTransposed() {
  Value last = emission.subtract(emission.add(block.first, block.count), emission.getConstant(1));
  emission.forRange(emission.getConstant(0), block.count, lanes, [&](Value row) {
    Value stored = getStoredMask(row), target = emission.add(start, row);
    // Places within a square, the same for all of them.
    SmallVector<Value> numbers, distances;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Value number = emission.add(block.first, emission.add(row, emission.getConstant(lane)));
      numbers.push_back(emission.minimum(number, last));
      distances.push_back(emission.add(target, emission.multiply(emission.getConstant(lane), block.count)));
    }
    forStepVectors(emission, form, points, block, form.lhs, [&](Value step, Value mask) {
      SmallVector<Value> square =
          llvm::map_to_vector(numbers, [&](Value number) { return load(points.k, number, step, mask); });
      transposeSquare(builder, location, square);
      Value to = emission.multiply(step, block.count);
      for (auto [distance, values] : llvm::zip_equal(distances, square))
        store(values, emission.add(to, distance), stored);
    });
  });
}

void RowPacker::packHalfTransposed() {
  unsigned half = lanes / 2;
  Value last = emission.subtract(emission.add(block.first, block.count), emission.getConstant(1));
  SmallVector<Value> numbers;
  for (unsigned row = 0; row < half; ++row)
    numbers.push_back(emission.minimum(emission.add(block.first, emission.getConstant(row)), last));
  forStepVectors(emission, form, points, block, form.lhs, [&](Value step, Value mask) {
    SmallVector<Value> rows =
        llvm::map_to_vector(numbers, [&](Value number) { return load(points.k, number, step, mask); });
    transposeSquare(builder, location, rows);
    for (unsigned number = 0; number < lanes; ++number) {
      Value values = vector::ExtractStridedSliceOp::create(builder, location, rows[number % half],
                                                           ArrayRef<int64_t>{number / half * half},
                                                           ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
      Value to = emission.multiply(emission.add(step, emission.getConstant(number)), block.count);
      store(values, emission.add(start, to), /*mask=*/{});
    }
  });
}

void freestone::codegen::packRows(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                  const PackedBlock &block, Value memory, Value start, Value height,
                                  int64_t mostHeight) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  // Where blocks fill half a vector, the lanes past the rows of the last step are within what may be written.
  bool isOneVector = mostHeight <= points.lanes && 2 * mostHeight >= points.lanes;
  bool areNeighbours = areRowsNeighbours(form, points);
  // Several blocks in turns are stored with masks, which are fast with AVX-512.
  bool isMaskFree = points.lanes * form.elementType.getIntOrFloatBitWidth() == 512;
  Value first = zero;
  if (areNeighbours && isOneVector && isMaskFree)
    first = RowPacker(emission, form, points, block, memory, start, isOneVector).packWholeColumns(height);
  emission.forRange(first, emission.ceilDivide(block.count, height), 1, [&](Value number) {
    Value distance = emission.multiply(number, height);
    PackedBlock rows = block;
    rows.first = emission.add(block.first, distance);
    rows.count = emission.minimum(height, emission.subtract(block.count, distance));
    RowPacker packer(emission, form, points, rows, memory,
                     emission.add(start, emission.multiply(distance, block.depth)), isOneVector);
    if (areNeighbours)
      return packer.packColumns();
    auto choose = [&](Value most, llvm::function_ref<void()> pack, llvm::function_ref<void()> packOthers) {
      Value isFew = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, rows.count, most);
      auto branch = scf::IfOp::create(builder, location, isFew, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      pack();
      builder.setInsertionPointToStart(branch.elseBlock());
      packOthers();
    };
    auto packTransposed = [&] { packer.packTransposed(); };
    auto packSeveral = [&] {
      if (!isOneVector)
        return packTransposed();
      choose(
          emission.getConstant(points.lanes / 2), [&] { packer.packHalfTransposed(); }, packTransposed);
    };
    choose(
        one, [&] { packer.packRow(); }, packSeveral);
  });
}

void freestone::codegen::transposeSquare(OpBuilder &builder, Location location, MutableArrayRef<Value> square) {
  unsigned rows = square.size(), lanes = cast<VectorType>(square.front().getType()).getNumElements();
  // Swaps blocks of 1, 2, 4, … lanes across the diagonal.
  for (unsigned size = 1; size < rows; size *= 2)
    for (unsigned row = 0; row < rows; ++row) {
      if (row & size)
        continue;
      SmallVector<int64_t> upper, lower;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        upper.push_back(lane & size ? lanes + lane - size : lane);
        lower.push_back(lane & size ? lanes + lane : lane + size);
      }
      Value a = square[row], b = square[row + size];
      square[row] = vector::ShuffleOp::create(builder, location, a, b, upper);
      square[row + size] = vector::ShuffleOp::create(builder, location, a, b, lower);
    }
}

static void packPanelByColumns(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                               const PackedBlock &block, Value memory, Value start, int64_t width) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  unsigned lanes = points.lanes;
  auto packSteps = [&](bool isWhole) {
    forSteps(emission, form, points, block, [&](Value step, LoadAtStep loadAtStep) {
      for (int64_t column = 0; column < width; column += lanes) {
        Value offset = emission.getConstant(column);
        LanePoints at{points.loops, points.outer, points.n, lanes, Value()};
        if (!isWhole)
          at.mask = emission.getTailMask(lanes, emission.subtract(block.count, offset));
        at.positions.push_back({points.n, emission.add(block.first, offset)});
        Value values = loadAtStep(form.rhs, std::move(at));
        Value to = emission.add(start, emission.add(emission.multiply(step, emission.getConstant(width)), offset));
        vector::StoreOp::create(builder, location, values, memory, to);
      }
    });
  };
  if (!areMasksSlow(form, points, form.rhs))
    return packSteps(/*isWhole=*/false);
  Value isWhole =
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, block.count, emission.getConstant(width));
  auto branch = scf::IfOp::create(builder, location, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  packSteps(/*isWhole=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  packSteps(/*isWhole=*/false);
}

void freestone::codegen::packPanels(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                    const PackedBlock &block, Value memory, Value start, Value pitch, int64_t panels,
                                    int64_t width) {
  forSteps(emission, form, points, block, [&](Value step, LoadAtStep loadAtStep) {
    Value place = emission.add(start, emission.multiply(step, emission.getConstant(width)));
    for (int64_t column = 0; column < panels * width; column += points.lanes) {
      LanePoints at{points.loops, points.outer, points.n, points.lanes, Value()};
      at.positions.push_back({points.n, emission.add(block.first, emission.getConstant(column))});
      Value before = emission.multiply(pitch, emission.getConstant(column / width));
      Value to = emission.add(place, emission.add(before, emission.getConstant(column % width)));
      vector::StoreOp::create(emission.builder, emission.location, loadAtStep(form.rhs, std::move(at)), memory, to);
    }
  });
}

/// The layout of B if steps of k are contiguous within its panels, and a vector of them never crosses panels.
static tile::PanelsAttr getPanelsAlongDepth(tile::ContractionForm &form, unsigned lanes) {
  std::optional<unsigned> input = form.getInput(form.rhs);
  auto panels =
      input ? dyn_cast_or_null<tile::PanelsAttr>(form.compute.getInputType(*input).getLayout()) : tile::PanelsAttr();
  if (!panels || panels.getWidth() % lanes != 0 || form.k.size() != 1 || form.compute.getFill(*input))
    return {};
  sym::Expr along = tile::getIndices(form.compute, *input)[panels.getAxis()];
  return along == tile::getLoopSymbol(form.compute.getContext(), form.k.front()) ? panels : tile::PanelsAttr();
}

void freestone::codegen::packPanelTransposed(Emission &emission, tile::ContractionForm &form,
                                             const ContractionPoints &points, const PackedBlock &block, Value memory,
                                             Value start, int64_t width) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  unsigned lanes = points.lanes;
  Value zero = emission.getConstant(0);
  Value last = emission.subtract(emission.add(block.first, block.count), emission.getConstant(1));
  tile::PanelsAttr panels = getPanelsAlongDepth(form, lanes);
  forStepVectors(emission, form, points, block, form.rhs, [&](Value step, Value mask) {
    emission.forRange(zero, block.count, lanes, [&](Value column) {
      SmallVector<Value> square;
      for (unsigned row = 0; row < lanes; ++row) {
        Value number = emission.add(block.first, emission.add(column, emission.getConstant(row)));
        LanePoints at{points.loops, points.outer, points.k, lanes, mask};
        at.positions.push_back({points.n, emission.minimum(number, last)});
        square.push_back(
            loadFactor(emission, form, points, form.rhs, std::move(at), emission.add(block.k, step), panels));
      }
      transposeSquare(builder, location, square);
      for (unsigned row = 0; row < lanes; ++row) {
        Value to = emission.multiply(emission.add(step, emission.getConstant(row)), emission.getConstant(width));
        vector::StoreOp::create(builder, location, square[row], memory, emission.add(start, emission.add(to, column)));
      }
    });
  });
}

void freestone::codegen::packPanel(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                   const PackedBlock &block, Value memory, Value start, int64_t width) {
  std::optional<unsigned> read = form.getInput(form.rhs);
  if (!read)
    return packPanelByColumns(emission, form, points, block, memory, start, width);
  if (points.stepsOfWord > 1 && form.getWordWindow())
    return packPairsOfWindow(emission, form, points, block, memory, start, width, areMasksSlow(form, points, form.rhs));
  unsigned input = *read;
  sym::Expr linear = points.getLinearIndex(form, input);
  std::optional<sym::Expr> alongColumns = tile::getStride(linear, points.n),
                           alongDepth = tile::getStride(linear, points.k);
  bool isRun = alongColumns && alongColumns->isConstant(1);
  bool hasFill = static_cast<bool>(form.compute.getFill(input));
  if ((!isRun || hasFill) && form.getWindowTaps())
    return packPanelOfWindow(emission, form, points, block, memory, start, width,
                             [&] { packPanelByColumns(emission, form, points, block, memory, start, width); });
  unsigned lanes = points.lanes;
  bool isRunOfDepth = alongDepth && alongDepth->isConstant(1) && alongColumns && !hasFill;
  if (!isRun && (isRunOfDepth || getPanelsAlongDepth(form, lanes)))
    return packPanelTransposed(emission, form, points, block, memory, start, width);
  packPanelByColumns(emission, form, points, block, memory, start, width);
}
