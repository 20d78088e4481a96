#include "compiler/codegen/cpu/PackDotProducts.h"

#include "compiler/plan/DotProductTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

constexpr int64_t unit = tile::DotProductTiles::unit, half = unit / 2;

/// One operand: its elements along `across` (rows of A, columns of B) and along k.
class DotProductPacker {
public:
  DotProductPacker(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points, const PackedBlock &block,
             Value factor, sym::Expr across, Value memory)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), points(points),
        block(block), input(*form.getInput(factor)), across(across), memory(memory),
        lastPlace(emission.subtract(emission.add(block.first, block.count), emission.getConstant(1))) {}

  /// Whether elements along `across` are contiguous in memory.
  bool runsAcross();
  /// 32 steps from `step` on, at a position across; out of bounds, at the last one.
  Value loadSteps(Value place, Value step);
  /// The pairs of steps `step` and `step` + 1, at 32 positions across.
  std::pair<Value, Value> loadPairs(Value place, Value step);
  /// As loadSteps, in pairs, for 16 positions.
  SmallVector<Value> loadSquare(Value place, Value step);
  void store(Value values, Value at);
  Value toPairs(Value values) { return vector::BitCastOp::create(builder, location, pairType, values); }

private:
  Value load(sym::Expr lane, Value place, Value step, Value mask);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::ContractionForm &form;
  const ContractionPoints &points;
  const PackedBlock &block;
  unsigned input;
  sym::Expr across;
  Value memory, lastPlace;
  VectorType wordType = VectorType::get({unit}, builder.getI16Type());
  VectorType pairType = VectorType::get({half}, builder.getI32Type());
};

} // namespace

bool DotProductPacker::runsAcross() {
  sym::Expr linear = points.getLinearIndex(form, input);
  std::optional<sym::Expr> stride = getStride(linear, across), alongDepth = getStride(linear, points.k);
  return stride && stride->isConstant(1) && !(alongDepth && alongDepth->isConstant(1));
}

Value DotProductPacker::load(sym::Expr lane, Value place, Value step, Value mask) {
  LanePoints at{points.loops, points.outer, lane, unit, mask};
  at.positions.push_back({across, place});
  at.positions.push_back({points.k, emission.add(block.k, step)});
  Value argument = form.compute.getInputArgs()[input];
  Value values = BodyVectorizer(emission, form.compute, std::move(at)).getVector(argument);
  return vector::BitCastOp::create(builder, location, wordType, values);
}

Value DotProductPacker::loadSteps(Value place, Value step) {
  Value mask = emission.getTailMask(unit, emission.subtract(block.depth, step));
  return load(points.k, emission.minimum(place, lastPlace), step, mask);
}

std::pair<Value, Value> DotProductPacker::loadPairs(Value place, Value step) {
  Value count = emission.subtract(emission.add(lastPlace, emission.getConstant(1)), place),
        zero = emission.getConstant(0);
  Value rows[2];
  for (int64_t number = 0; number < 2; ++number) {
    Value at = emission.add(step, emission.getConstant(number));
    Value exists = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, at, block.depth);
    Value active = arith::SelectOp::create(builder, location, exists, count, zero);
    rows[number] = load(across, place, at, emission.getTailMask(unit, active));
  }
  Value pairs[2];
  for (int64_t part = 0; part < 2; ++part) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < half; ++lane)
      llvm::append_values(order, part * half + lane, unit + part * half + lane);
    pairs[part] = toPairs(vector::ShuffleOp::create(builder, location, rows[0], rows[1], order));
  }
  return {pairs[0], pairs[1]};
}

SmallVector<Value> DotProductPacker::loadSquare(Value place, Value step) {
  SmallVector<Value> square;
  for (int64_t number = 0; number < half; ++number)
    square.push_back(toPairs(loadSteps(emission.add(place, emission.getConstant(number)), step)));
  return square;
}

void DotProductPacker::store(Value values, Value at) {
  auto narrow = VectorType::get({unit}, builder.getBF16Type());
  vector::StoreOp::create(builder, location, vector::BitCastOp::create(builder, location, narrow, values), memory, at);
}

/// With rows contiguous in memory, all strips of a group are packed before the next group, so that memory is read row
/// by row.
static void packRowsAcross(Emission &emission, DotProductPacker &packer, const PackedBlock &block, Value groups,
                           Value start) {
  Value zero = emission.getConstant(0), width = emission.getConstant(unit);
  Value groupElements = emission.getConstant(tile::DotProductTiles::groupElements);
  Value stripElements = emission.multiply(groups, groupElements);
  emission.forRange(zero, groups, 1, [&](Value group) {
    Value step = emission.multiply(group, width);
    Value groupStart = emission.add(start, emission.multiply(group, groupElements));
    emission.forRange(zero, emission.ceilDivide(block.count, width), 1, [&](Value strip) {
      Value row = emission.add(block.first, emission.multiply(strip, width));
      SmallVector<Value> squares[2];
      for (int64_t pair = 0; pair < half; ++pair) {
        auto [lower, upper] = packer.loadPairs(row, emission.add(step, emission.getConstant(2 * pair)));
        squares[0].push_back(lower);
        squares[1].push_back(upper);
      }
      Value stripStart = emission.add(groupStart, emission.multiply(strip, stripElements));
      for (int64_t part = 0; part < 2; ++part) {
        transposeSquare(emission.builder, emission.location, squares[part]);
        for (auto [number, values] : llvm::enumerate(squares[part]))
          packer.store(values, emission.add(stripStart, emission.getConstant((part * half + number) * unit)));
      }
    });
  });
}

void freestone::codegen::packDotProductRows(Emission &emission, tile::ContractionForm &form, const ContractionPoints &points,
                                      const PackedBlock &block, Value groups, Value memory, Value start) {
  DotProductPacker packer(emission, form, points, block, form.lhs, points.m, memory);
  if (packer.runsAcross())
    return packRowsAcross(emission, packer, block, groups, start);
  Value zero = emission.getConstant(0), width = emission.getConstant(unit);
  Value groupElements = emission.getConstant(tile::DotProductTiles::groupElements);
  Value stripElements = emission.multiply(groups, groupElements);
  emission.forRange(zero, block.count, 1, [&](Value number) {
    Value strip = emission.divide(number, width);
    Value inStrip = emission.subtract(number, emission.multiply(strip, width));
    Value rowStart = emission.add(emission.multiply(strip, stripElements), emission.multiply(inStrip, width));
    emission.forRange(zero, groups, 1, [&](Value group) {
      Value values = packer.loadSteps(emission.add(block.first, number), emission.multiply(group, width));
      packer.store(values, emission.add(emission.add(start, rowStart), emission.multiply(group, groupElements)));
    });
  });
}

void freestone::codegen::packDotProductPanels(Emission &emission, tile::ContractionForm &form,
                                        const ContractionPoints &points, const PackedBlock &block, Value groups,
                                        Value memory, Value start, Value pitch) {
  DotProductPacker packer(emission, form, points, block, form.rhs, points.n, memory);
  Value zero = emission.getConstant(0), two = emission.getConstant(2), width = emission.getConstant(unit);
  Value panels = emission.ceilDivide(block.count, width);
  if (packer.runsAcross()) {
    emission.forRange(zero, emission.multiply(groups, emission.getConstant(half)), 1, [&](Value pair) {
      Value rowStart = emission.add(start, emission.multiply(pair, emission.getConstant(2 * unit)));
      emission.forRange(zero, panels, 1, [&](Value panel) {
        Value column = emission.add(block.first, emission.multiply(panel, width));
        auto [lower, upper] = packer.loadPairs(column, emission.multiply(pair, two));
        Value at = emission.add(rowStart, emission.multiply(panel, pitch));
        packer.store(lower, at);
        packer.store(upper, emission.add(at, width));
      });
    });
    return;
  }
  emission.forRange(zero, panels, 1, [&](Value panel) {
    Value first = emission.add(block.first, emission.multiply(panel, width));
    Value panelStart = emission.add(start, emission.multiply(panel, pitch));
    emission.forRange(zero, groups, 1, [&](Value group) {
      Value step = emission.multiply(group, width);
      Value groupStart =
          emission.add(panelStart, emission.multiply(group, emission.getConstant(tile::DotProductTiles::groupElements)));
      emission.forRange(zero, two, 1, [&](Value part) {
        Value column = emission.add(first, emission.multiply(part, emission.getConstant(half)));
        SmallVector<Value> square = packer.loadSquare(column, step);
        transposeSquare(emission.builder, emission.location, square);
        Value partStart = emission.add(groupStart, emission.multiply(part, width));
        for (auto [pair, values] : llvm::enumerate(square))
          packer.store(values, emission.add(partStart, emission.getConstant(pair * 2 * unit)));
      });
    });
  });
}
