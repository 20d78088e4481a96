#include "compiler/codegen/cpu/PackDotProducts.h"

#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

/// One operand of f32: its elements along `across` (rows of A, columns of B) and along k. All vectors have 16 lanes.
class SplitPacker {
public:
  SplitPacker(Emission &emission, tile::ContractionForm &form, const tile::DotProductLayout &layout,
              const ContractionPoints &points, const PackedBlock &block, Value factor, sym::Expr across, Value groups,
              Value memory, Value start)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), layout(layout),
        points(points), block(block), factor(factor), across(across), groups(groups), memory(memory), start(start) {
    unsigned input = *form.getInput(factor);
    panels = dyn_cast_or_null<tile::PanelsAttr>(form.compute.getInputType(input).getLayout());
    if (panels) {
      sym::Expr along = tile::getIndices(form.compute, input)[panels.getAxis()];
      panelAxis = along == tile::getLoopSymbol(form.compute.getContext(), form.k.front()) ? points.k : across;
      runsAcross = panelAxis == across;
    } else {
      std::optional<sym::Expr> alongDepth = tile::getStride(points.getLinearIndex(form, input), points.k);
      runsAcross = !alongDepth || !alongDepth->isConstant(1);
    }
  }

  void packRows();
  void packPanels(Value pitch);

private:
  static constexpr int64_t unit = tile::DotProductLayout::unit, rowWords = tile::DotProductLayout::rowWords;
  /// Elements of bf16 in a row of words of a strip, and of a panel.
  static constexpr int64_t stripRow = 2 * rowWords, panelRow = 2 * unit;

  /// 16 elements from `place` and `step` on, along k or across. Those past the block are zeros, unless it is known that
  /// there are none, or only rows or columns.
  Value load(sym::Expr lane, Value place, Value step, bool isWhole);
  /// The elements of 16 places across at two runs of 16 steps, by step or, `byPlace`, by place.
  struct Square {
    SmallVector<Value> lower, upper;
  };
  Square loadSquare(Value place, Value step, bool byPlace, bool isWhole);
  /// Stores the words of two vectors whose elements are halves of them, part by part.
  void storeParts(Value lower, Value upper, Value at);
  /// Calls `body` for each group, twice in the code: where all of its steps exist, for 32 places from `place` on, and
  /// where not.
  void forGroups(Value place, llvm::function_ref<void(Value group, Value step, bool isWhole)> body);
  Value constant(int64_t value) { return emission.getConstant(value); }
  Value plus(Value value, int64_t by) { return emission.add(value, constant(by)); }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const tile::DotProductLayout &layout;
  const ContractionPoints &points;
  const PackedBlock &block;
  Value factor;
  sym::Expr across, panelAxis;
  Value groups, memory, start;
  tile::PanelsAttr panels;
  /// Whether elements along `across` are contiguous in memory; else those along k are.
  bool runsAcross;
};

} // namespace

Value SplitPacker::load(sym::Expr lane, Value place, Value step, bool isWhole) {
  Value zero = constant(0), end = emission.add(block.first, block.count), mask;
  bool isAcross = lane == across;
  if (!isWhole) {
    Value steps = emission.maximum(zero, emission.subtract(block.depth, step)), active = steps;
    if (isAcross) {
      Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, steps, zero);
      Value places = emission.maximum(zero, emission.subtract(end, place));
      active = arith::SelectOp::create(builder, location, exists, places, zero);
    }
    mask = emission.getTailMask(rowWords, active);
  }
  // Places past the end are those of the last one, whose results nobody reads.
  if (!isAcross)
    place = emission.minimum(place, emission.subtract(end, constant(1)));
  LanePoints at{points.loops, points.outer, lane, static_cast<unsigned>(rowWords), mask};
  at.positions.push_back({across, place});
  at.positions.push_back({points.k, emission.add(block.k, step)});
  if (panels && lane == panelAxis)
    keepWithinPanel(emission, at, panels.getWidth());
  return BodyVectorizer(emission, form.compute, std::move(at)).getVector(factor);
}

SplitPacker::Square SplitPacker::loadSquare(Value place, Value step, bool byPlace, bool isWhole) {
  auto loadHalf = [&](int64_t distance) {
    SmallVector<Value> vectors;
    for (int64_t number = 0; number < rowWords; ++number)
      vectors.push_back(runsAcross ? load(across, place, plus(step, distance + number), isWhole)
                                   : load(points.k, plus(place, number), plus(step, distance), isWhole));
    return byPlace == runsAcross ? transposeLanes(builder, location, vectors) : vectors;
  };
  return {loadHalf(0), loadHalf(rowWords)};
}

/// Every part but the last is rounded to bf16, and what is left goes on to the next: 8 bits and a sign each, so that
/// three have all 24 bits.
void SplitPacker::storeParts(Value lower, Value upper, Value at) {
  auto wordType = VectorType::get({rowWords}, builder.getI32Type());
  auto floatType = cast<VectorType>(lower.getType());
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location,
                                     DenseElementsAttr::get(wordType, static_cast<int32_t>(value)));
  };
  Value mask = splat(0xffff0000), half = splat(0x8000), sixteen = splat(16);
  auto toWords = [&](Value value) -> Value { return vector::BitCastOp::create(builder, location, wordType, value); };
  auto storeType = VectorType::get({stripRow}, builder.getBF16Type());
  for (int64_t part = 0; part < layout.factors.parts; ++part) {
    bool isLast = part + 1 == layout.factors.parts;
    auto takePart = [&](Value &rest) -> Value {
      Value bits = toWords(rest);
      if (isLast)
        return bits;
      bits = arith::AddIOp::create(builder, location, bits, half);
      Value rounded = arith::AndIOp::create(builder, location, bits, mask);
      rest = arith::SubFOp::create(builder, location, rest,
                                   vector::BitCastOp::create(builder, location, floatType, rounded));
      return bits;
    };
    Value low = takePart(lower), high = takePart(upper);
    Value words = arith::OrIOp::create(builder, location, arith::ShRUIOp::create(builder, location, low, sixteen),
                                       arith::AndIOp::create(builder, location, high, mask));
    vector::StoreOp::create(builder, location, vector::BitCastOp::create(builder, location, storeType, words), memory,
                            plus(at, part * layout.getPartElements()));
  }
}

void SplitPacker::forGroups(Value place, llvm::function_ref<void(Value group, Value step, bool isWhole)> body) {
  Value zero = constant(0), end = emission.add(block.first, block.count);
  Value whole = emission.divide(block.depth, constant(layout.getStepsOfGroup()));
  Value holds = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, plus(place, unit), end);
  // Along k, places past the end are read as the last one.
  if (runsAcross)
    whole = arith::SelectOp::create(builder, location, holds, whole, zero);
  auto forAll = [&](Value from, Value to, bool isWhole) {
    emission.forRange(from, to, 1, [&](Value group) {
      body(group, emission.multiply(group, constant(layout.getStepsOfGroup())), isWhole);
    });
  };
  forAll(zero, whole, /*isWhole=*/true);
  forAll(whole, groups, /*isWhole=*/false);
}

void SplitPacker::packRows() {
  Value groupElements = constant(layout.getGroupElements());
  Value stripElements = emission.multiply(groups, groupElements);
  emission.forRange(constant(0), block.count, unit, [&](Value inBlock) {
    Value first = emission.add(block.first, inBlock);
    Value strip = emission.add(start, emission.multiply(emission.divide(inBlock, constant(unit)), stripElements));
    Value rows = emission.minimum(constant(unit), emission.subtract(block.count, inBlock));
    if (runsAcross)
      return forGroups(first, [&](Value group, Value step, bool isWhole) {
        Value to = emission.add(strip, emission.multiply(group, groupElements));
        emission.forRange(constant(0), rows, rowWords, [&](Value row) {
          Square square = loadSquare(emission.add(first, row), step, /*byPlace=*/true, isWhole);
          Value at = emission.add(to, emission.multiply(row, constant(stripRow)));
          for (int64_t number = 0; number < rowWords; ++number)
            storeParts(square.lower[number], square.upper[number], plus(at, number * stripRow));
        });
      });
    // Group by group: what a group's rows are stored to, as many lines for each, is contiguous.
    forGroups(first, [&](Value group, Value step, bool isWhole) {
      Value to = emission.add(strip, emission.multiply(group, groupElements));
      emission.forRange(constant(0), rows, 1, [&](Value row) {
        Value place = emission.add(first, row);
        storeParts(load(points.k, place, step, isWhole), load(points.k, place, plus(step, rowWords), isWhole),
                   emission.add(to, emission.multiply(row, constant(stripRow))));
      });
    });
  });
}

void SplitPacker::packPanels(Value pitch) {
  Value groupElements = constant(layout.getGroupElements());
  emission.forRange(constant(0), block.count, unit, [&](Value inBlock) {
    Value first = emission.add(block.first, inBlock);
    Value panel = emission.add(start, emission.multiply(emission.divide(inBlock, constant(unit)), pitch));
    forGroups(first, [&](Value group, Value step, bool isWhole) {
      Value to = emission.add(panel, emission.multiply(group, groupElements));
      if (runsAcross) {
        emission.forRange(constant(0), constant(rowWords), 1, [&](Value word) {
          Value at = emission.add(to, emission.multiply(word, constant(panelRow))), from = emission.add(step, word);
          for (int64_t half = 0; half < 2; ++half) {
            Value place = plus(first, half * rowWords);
            storeParts(load(across, place, from, isWhole), load(across, place, plus(from, rowWords), isWhole),
                       plus(at, half * stripRow));
          }
        });
        return;
      }
      emission.forRange(constant(0), constant(2), 1, [&](Value half) {
        Value place = emission.add(first, emission.multiply(half, constant(rowWords)));
        Square square = loadSquare(place, step, /*byPlace=*/false, isWhole);
        Value at = emission.add(to, emission.multiply(half, constant(stripRow)));
        for (int64_t word = 0; word < rowWords; ++word)
          storeParts(square.lower[word], square.upper[word], plus(at, word * panelRow));
      });
    });
  });
}

void freestone::codegen::packSplitRows(Emission &emission, tile::ContractionForm &form,
                                       const tile::DotProductLayout &layout, const ContractionPoints &points,
                                       const PackedBlock &block, Value groups, Value memory, Value start) {
  SplitPacker(emission, form, layout, points, block, form.lhs, points.m, groups, memory, start).packRows();
}

void freestone::codegen::packSplitPanels(Emission &emission, tile::ContractionForm &form,
                                         const tile::DotProductLayout &layout, const ContractionPoints &points,
                                         const PackedBlock &block, Value groups, Value memory, Value start,
                                         Value pitch) {
  SplitPacker(emission, form, layout, points, block, form.rhs, points.n, groups, memory, start).packPanels(pitch);
}
