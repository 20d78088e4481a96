#include "compiler/codegen/cpu/PackDotProducts.h"

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

constexpr int64_t unit = tile::DotProductLayout::unit, rowWords = tile::DotProductLayout::rowWords;

/// One operand: its elements along `across` (rows of A, columns of B) and along k. Words are vectors of 16 i32.
class DotProductPacker {
public:
  DotProductPacker(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
                   const ContractionPoints &points, const PackedBlock &block, Value factor, sym::Expr across,
                   Value memory)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
        block(block), input(*form.getInput(factor)), across(across), memory(memory),
        lastPlace(emission.subtract(emission.add(block.first, block.count), emission.getConstant(1))),
        stepsOfWord(layout.getStepsOfWord()), steps(layout.getStepsOfGroup()),
        flips(layout.flipsRows() && factor == form.lhs) {}

  /// Whether elements along `across` are contiguous in memory.
  bool runsAcross();
  /// The words of a group from `step` on, at a position across; out of bounds, at the last one. Those of a mask, if it is
  /// not null.
  Value loadSteps(Value place, Value step, Value mask);
  /// The words that begin with `step`, at 32 positions across: two vectors.
  std::pair<Value, Value> loadWords(Value place, Value step);
  /// As loadSteps, for 16 positions.
  SmallVector<Value> loadSquare(Value place, Value step);
  void store(Value words, Value at);

private:
  Value load(sym::Expr lane, int64_t lanes, Value place, Value step, Value mask);
  std::pair<Value, Value> loadWords(Value place, Value step, bool isWhole);
  Value toWords(Value elements);
  SmallVector<Value> loadWhole(Value isWhole, int64_t count, llvm::function_ref<SmallVector<Value>(bool isWhole)> load);
  Value isAtMost(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, lhs, rhs);
  }
  Value hasSteps(Value step, int64_t count) {
    return isAtMost(emission.add(step, emission.getConstant(count)), block.depth);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  unsigned input;
  sym::Expr across;
  Value memory, lastPlace;
  int64_t stepsOfWord, steps;
  bool flips;
  VectorType wordType = VectorType::get({rowWords}, builder.getI32Type());
};

} // namespace

bool DotProductPacker::runsAcross() {
  sym::Expr linear = points.getLinearIndex(form, input);
  std::optional<sym::Expr> stride = tile::getStride(linear, across), alongDepth = tile::getStride(linear, points.k);
  return stride && stride->isConstant(1) && !(alongDepth && alongDepth->isConstant(1));
}

/// Elements as signless integers.
Value DotProductPacker::load(sym::Expr lane, int64_t lanes, Value place, Value step, Value mask) {
  LanePoints at{points.loops, points.outer, lane, static_cast<unsigned>(lanes), mask};
  at.positions.push_back({across, place});
  at.positions.push_back({points.k, emission.add(block.k, step)});
  Value argument = form.compute.getInputArgs()[input];
  Value values = BodyVectorizer(emission, form.compute, std::move(at)).getVector(argument);
  Type element = builder.getIntegerType(32 / stepsOfWord);
  return vector::BitCastOp::create(builder, location, VectorType::get({lanes}, element), values);
}

Value DotProductPacker::toWords(Value elements) {
  Value words = vector::BitCastOp::create(builder, location, wordType, elements);
  if (!flips)
    return words;
  return arith::XOrIOp::create(builder, location, words, getFlippedZeros(builder, location));
}

/// Vectors of words, loaded without masks where all elements exist: making a mask takes longer than the load.
SmallVector<Value> DotProductPacker::loadWhole(Value isWhole, int64_t count,
                                               llvm::function_ref<SmallVector<Value>(bool isWhole)> load) {
  SmallVector<Type> types(count, wordType);
  auto branch = scf::IfOp::create(builder, location, types, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool whole : {true, false}) {
    builder.setInsertionPointToStart(whole ? branch.thenBlock() : branch.elseBlock());
    scf::YieldOp::create(builder, location, load(whole));
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

Value DotProductPacker::loadSteps(Value place, Value step, Value mask) {
  return toWords(load(points.k, steps, emission.minimum(place, lastPlace), step, mask));
}

std::pair<Value, Value> DotProductPacker::loadWords(Value place, Value step) {
  Value last = emission.add(place, emission.getConstant(unit - 1));
  Value isWhole = arith::AndIOp::create(builder, location, hasSteps(step, stepsOfWord), isAtMost(last, lastPlace));
  SmallVector<Value> words = loadWhole(isWhole, 2, [&](bool whole) {
    auto [lower, upper] = loadWords(place, step, whole);
    return SmallVector<Value>{lower, upper};
  });
  return {words[0], words[1]};
}

std::pair<Value, Value> DotProductPacker::loadWords(Value place, Value step, bool isWhole) {
  Value count = emission.subtract(emission.add(lastPlace, emission.getConstant(1)), place),
        zero = emission.getConstant(0);
  SmallVector<Value> rows;
  for (int64_t number = 0; number < stepsOfWord; ++number) {
    Value at = emission.add(step, emission.getConstant(number)), mask;
    if (!isWhole) {
      Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, at, block.depth);
      mask = emission.getTailMask(unit, arith::SelectOp::create(builder, location, exists, count, zero));
    }
    rows.push_back(load(across, unit, place, at, mask));
  }
  auto [lower, upper] = joinRows(builder, location, rows);
  return {toWords(lower), toWords(upper)};
}

SmallVector<Value> DotProductPacker::loadSquare(Value place, Value step) {
  return loadWhole(hasSteps(step, steps), rowWords, [&](bool isWhole) {
    SmallVector<Value> square;
    Value mask = isWhole ? Value() : emission.getTailMask(steps, emission.subtract(block.depth, step));
    for (int64_t number = 0; number < rowWords; ++number)
      square.push_back(loadSteps(emission.add(place, emission.getConstant(number)), step, mask));
    return square;
  });
}

void DotProductPacker::store(Value words, Value at) {
  auto type = VectorType::get({rowWords * stepsOfWord}, cast<MemRefType>(memory.getType()).getElementType());
  vector::StoreOp::create(builder, location, vector::BitCastOp::create(builder, location, type, words), memory, at);
}

std::pair<Value, Value> freestone::codegen::joinRows(OpBuilder &builder, Location location, ValueRange rows) {
  SmallVector<Value> parts = interleaveLanes(builder, location, rows);
  // Each part has the words of as many positions as a vector of elements has lanes for.
  while (parts.size() > 2) {
    SmallVector<Value> joined;
    int64_t lanes = 2 * cast<VectorType>(parts.front().getType()).getNumElements();
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    for (size_t number = 0; number < parts.size(); number += 2)
      joined.push_back(vector::ShuffleOp::create(builder, location, parts[number], parts[number + 1], order));
    parts = std::move(joined);
  }
  return {parts[0], parts[1]};
}

/// An empty sum has one word of zeros.
Value freestone::codegen::countMultipliedWords(Emission &emission, const tile::DotProductLayout &layout,
                                               const PackedBlock &block) {
  bool areWhole = layout.summedBy == tile::DotProductUnit::tiles;
  int64_t steps = areWhole ? layout.getStepsOfGroup() : layout.getStepsOfWord();
  Value count =
      emission.maximum(emission.getConstant(1), emission.ceilDivide(block.depth, emission.getConstant(steps)));
  return areWhole ? emission.multiply(count, emission.getConstant(rowWords)) : count;
}

/// With rows contiguous in memory, all strips of a group are packed before the next group, so that memory is read row
/// by row.
static void packRowsAcross(Emission &emission, const tile::DotProductLayout &layout, DotProductPacker &packer,
                           const PackedBlock &block, Value groups, Value start, int64_t parts) {
  Value zero = emission.getConstant(0), width = emission.getConstant(unit);
  Value groupElements = emission.getConstant(layout.getGroupElements());
  Value stripElements = emission.multiply(groups, groupElements);
  int64_t stepsOfWord = layout.getStepsOfWord(), steps = layout.getStepsOfGroup();
  emission.forRange(zero, groups, 1, [&](Value group) {
    Value step = emission.multiply(group, emission.getConstant(steps));
    Value groupStart = emission.add(start, emission.multiply(group, groupElements));
    emission.forRange(zero, emission.ceilDivide(block.count, width), 1, [&](Value strip) {
      Value row = emission.add(block.first, emission.multiply(strip, width));
      SmallVector<Value> squares[2];
      for (int64_t word = 0; word < rowWords; ++word) {
        auto [lower, upper] = packer.loadWords(row, emission.add(step, emission.getConstant(stepsOfWord * word)));
        squares[0].push_back(lower);
        squares[1].push_back(upper);
      }
      Value stripStart = emission.add(groupStart, emission.multiply(strip, stripElements));
      for (int64_t part = 0; part < parts; ++part) {
        transposeSquare(emission.builder, emission.location, squares[part]);
        for (auto [number, words] : llvm::enumerate(squares[part]))
          packer.store(words, emission.add(stripStart, emission.getConstant((part * rowWords + number) * steps)));
      }
    });
  });
}

/// `parts` of 16 rows each.
static void packStrips(Emission &emission, const tile::DotProductLayout &layout, DotProductPacker &packer,
                       const PackedBlock &block, Value groups, Value start, int64_t parts) {
  if (packer.runsAcross())
    return packRowsAcross(emission, layout, packer, block, groups, start, parts);
  Value zero = emission.getConstant(0), width = emission.getConstant(unit);
  Value groupElements = emission.getConstant(layout.getGroupElements());
  Value steps = emission.getConstant(layout.getStepsOfGroup());
  Value stripElements = emission.multiply(groups, groupElements), whole = emission.divide(block.depth, steps);
  // One mask for all rows: making it takes longer than a load.
  Value stepsOfRest = emission.subtract(block.depth, emission.multiply(whole, steps));
  Value mask = emission.getTailMask(layout.getStepsOfGroup(), stepsOfRest);
  Value hasRest = arith::CmpIOp::create(emission.builder, emission.location, arith::CmpIPredicate::slt, whole, groups);
  emission.forRange(zero, block.count, 1, [&](Value number) {
    Value strip = emission.divide(number, width), row = emission.add(block.first, number);
    Value inStrip = emission.subtract(number, emission.multiply(strip, width));
    Value rowStart = emission.add(emission.multiply(strip, stripElements), emission.multiply(inStrip, steps));
    auto pack = [&](Value group, Value mask) {
      Value words = packer.loadSteps(row, emission.multiply(group, steps), mask);
      packer.store(words, emission.add(emission.add(start, rowStart), emission.multiply(group, groupElements)));
    };
    emission.forRange(zero, whole, 1, [&](Value group) { pack(group, Value()); });
    auto rest = scf::IfOp::create(emission.builder, emission.location, hasRest, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(emission.builder);
    emission.builder.setInsertionPointToStart(rest.thenBlock());
    pack(whole, mask);
  });
}

void freestone::codegen::packDotProductRows(Emission &emission, tile::ContractionForm &form,
                                            const tile::DotProductLayout &layout, const ContractionPoints &points,
                                            const PackedBlock &block, Value groups, Value memory, Value start) {
  DotProductPacker packer(emission, form, layout, points, block, form.lhs, points.m, memory);
  packStrips(emission, layout, packer, block, groups, start, /*parts=*/2);
}

void freestone::codegen::packDotProductColumns(Emission &emission, tile::ContractionForm &form,
                                               const tile::DotProductLayout &layout, const ContractionPoints &points,
                                               const PackedBlock &block, Value groups, Value memory, Value start) {
  DotProductPacker packer(emission, form, layout, points, block, form.rhs, points.n, memory);
  packStrips(emission, layout, packer, block, groups, start, /*parts=*/1);
}

void freestone::codegen::packDotProductPanels(Emission &emission, tile::ContractionForm &form,
                                              const tile::DotProductLayout &layout, const ContractionPoints &points,
                                              const PackedBlock &block, Value groups, Value memory, Value start,
                                              Value pitch) {
  if (form.getWordWindow())
    return packWindowPanels(emission, form, layout, points, block, groups, memory, start, pitch);
  DotProductPacker packer(emission, form, layout, points, block, form.rhs, points.n, memory);
  Value zero = emission.getConstant(0), width = emission.getConstant(unit);
  int64_t stepsOfWord = layout.getStepsOfWord(), steps = layout.getStepsOfGroup(), rowElements = unit * stepsOfWord;
  Value panels = emission.ceilDivide(block.count, width);
  if (packer.runsAcross()) {
    emission.forRange(zero, countMultipliedWords(emission, layout, block), 1, [&](Value word) {
      Value rowStart = emission.add(start, emission.multiply(word, emission.getConstant(rowElements)));
      emission.forRange(zero, panels, 1, [&](Value panel) {
        Value column = emission.add(block.first, emission.multiply(panel, width));
        auto [lower, upper] = packer.loadWords(column, emission.multiply(word, emission.getConstant(stepsOfWord)));
        Value at = emission.add(rowStart, emission.multiply(panel, pitch));
        packer.store(lower, at);
        packer.store(upper, emission.add(at, emission.getConstant(rowElements / 2)));
      });
    });
    return;
  }
  emission.forRange(zero, panels, 1, [&](Value panel) {
    Value first = emission.add(block.first, emission.multiply(panel, width));
    Value panelStart = emission.add(start, emission.multiply(panel, pitch));
    emission.forRange(zero, groups, 1, [&](Value group) {
      Value step = emission.multiply(group, emission.getConstant(steps));
      Value groupStart =
          emission.add(panelStart, emission.multiply(group, emission.getConstant(layout.getGroupElements())));
      emission.forRange(zero, emission.getConstant(2), 1, [&](Value part) {
        Value column = emission.add(first, emission.multiply(part, emission.getConstant(rowWords)));
        SmallVector<Value> square = packer.loadSquare(column, step);
        transposeSquare(emission.builder, emission.location, square);
        Value partStart = emission.add(groupStart, emission.multiply(part, emission.getConstant(rowElements / 2)));
        for (auto [word, values] : llvm::enumerate(square))
          packer.store(values, emission.add(partStart, emission.getConstant(word * rowElements)));
      });
    });
  });
}

void freestone::codegen::sumDotProductColumns(Emission &emission, const tile::DotProductLayout &layout,
                                              const PackedBlock &block, Value memory, Value start, Value pitch,
                                              Value accumulates, Value sums) {
  OpBuilder &builder = emission.builder;
  Location location = emission.location;
  auto sumType = VectorType::get({rowWords}, builder.getI32Type());
  auto byteType = VectorType::get({rowWords * layout.getStepsOfWord()}, builder.getI8Type());
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(sumType));
  Value flipped = vector::BitCastOp::create(
      builder, location, sumType,
      arith::ConstantOp::create(builder, location,
                                DenseElementsAttr::get(byteType, tile::DotProductLayout::flippedZero)));
  int64_t rowElements = unit * layout.getStepsOfWord();
  emission.forRange(emission.getConstant(0), block.count, unit, [&](Value column) {
    Value number = emission.divide(column, emission.getConstant(unit));
    Value panel = emission.add(start, emission.multiply(number, pitch));
    Value at[2], state[2];
    for (int64_t half = 0; half < 2; ++half) {
      at[half] = emission.add(emission.add(block.first, column), emission.getConstant(half * rowWords));
      Value before = vector::LoadOp::create(builder, location, sumType, sums, at[half]);
      state[half] = arith::SelectOp::create(builder, location, accumulates, before, zeros);
    }
    Value words = countMultipliedWords(emission, layout, block);
    auto loop = scf::ForOp::create(builder, location, emission.getConstant(0), words, emission.getConstant(1),
                                   ValueRange(state));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value row = emission.add(panel, emission.multiply(loop.getInductionVar(), emission.getConstant(rowElements)));
      SmallVector<Value> next;
      for (int64_t half = 0; half < 2; ++half) {
        Value place = emission.add(row, emission.getConstant(half * rowElements / 2));
        Value bytes = vector::LoadOp::create(builder, location, byteType, memory, place);
        next.push_back(addDotProducts(builder, location, layout.multiplied, loop.getRegionIterArg(half), flipped,
                                      vector::BitCastOp::create(builder, location, sumType, bytes)));
      }
      scf::YieldOp::create(builder, location, next);
    }
    for (int64_t half = 0; half < 2; ++half)
      vector::StoreOp::create(builder, location, loop.getResult(half), sums, at[half]);
  });
}
