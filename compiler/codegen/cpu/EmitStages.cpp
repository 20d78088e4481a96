#include "compiler/codegen/cpu/EmitStages.h"

#include "compiler/codegen/cpu/StageCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// Rows of a picture, from the first to the one behind the last.
struct RowRange {
  Value first, end;
};

class StagesEmitter {
public:
  StagesEmitter(const tile::ChainForm &form, const tile::ChainTiles &tiles, tile::StagesAttr node,
                ArrayRef<tile::StageProgram> stages, ArrayRef<func::FuncOp> functions, Emission &emission)
      : emission(emission), builder(emission.builder), location(emission.location), form(form), tiles(tiles),
        node(node), stages(stages), symbols(tile::StageSymbols::get(builder.getContext(), form.getNumImages())),
        calls(emission, stages, functions, symbols.getAll()) {}
  void emit();

private:
  void takeScratch();
  /// Returns the rows that scratch holds then of each stage but the last.
  SmallVector<RowRange> emitTile(Value tile, ArrayRef<RowRange> before);
  RowRange getWindow(unsigned edge, const RowRange &read);
  void keepRows(unsigned edge, Value from, Value rows);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  const tile::ChainForm &form;
  const tile::ChainTiles &tiles;
  tile::StagesAttr node;
  ArrayRef<tile::StageProgram> stages;
  tile::StageSymbols symbols;
  StageCalls calls;
  /// Results of stages.
  SmallVector<Value> between;
};

} // namespace

/// The same sizes as in the plan's `scratch`.
void StagesEmitter::takeScratch() {
  calls.takeScratch(tiles.words, tiles.ofStages);
  for (auto [edge, elements] : llvm::enumerate(tiles.between)) {
    Value tensor = form.getIntermediate(edge);
    Type element = cast<graph::TensorType>(tensor.getType()).getElementType();
    between.push_back(emission.takeScratch(tile::getStorageType(element), elements));
    emission.setBuffer(tensor, between.back());
  }
}

void StagesEmitter::emit() {
  takeScratch();
  calls.storePointers();
  Value zero = emission.getConstant(0);
  SmallVector<Value> none(2 * tiles.between.size(), zero);
  auto loop = scf::ForOp::create(builder, location, emission.begin, emission.end, emission.getConstant(1), none);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<RowRange> before;
  for (unsigned edge = 0; edge < tiles.between.size(); ++edge)
    before.push_back({loop.getRegionIterArg(2 * edge), loop.getRegionIterArg(2 * edge + 1)});
  SmallVector<Value> held;
  for (const RowRange &range : emitTile(loop.getInductionVar(), before))
    held.append({range.first, range.end});
  scf::YieldOp::create(builder, location, held);
}

/// The rows of a stage's results under the windows of some rows of the next one: none outside of the picture.
RowRange StagesEmitter::getWindow(unsigned edge, const RowRange &read) {
  const tile::ChainStage &reader = form.stages[edge + 1];
  Value zero = emission.getConstant(0), rows = emission.getSize(form.stages[edge].getRows());
  auto clamp = [&](Value row, Value least) { return emission.maximum(least, emission.minimum(row, rows)); };
  auto place = [&](Value row, int64_t distance) {
    return emission.add(emission.multiply(row, emission.getConstant(reader.stride)), emission.getConstant(distance));
  };
  Value first = clamp(place(read.first, reader.offset), zero);
  Value end = clamp(place(read.end, reader.offset + reader.span - reader.stride), first);
  return {first, end};
}

/// Moves rows of every plane of an intermediate to its beginning, from row `from` on.
void StagesEmitter::keepRows(unsigned edge, Value from, Value rows) {
  const tile::ChainStage &stage = form.stages[edge];
  Value memory = between[edge], zero = emission.getConstant(0);
  Type type = cast<MemRefType>(memory.getType()).getElementType();
  Value pixels = emission.getSize(stage.getPixels()), most = emission.getSize(tiles.most[edge]);
  Value planes =
      emission.divide(emission.getSize(stage.getRowElements()), emission.maximum(pixels, emission.getConstant(1)));
  Value pitch = emission.multiply(most, pixels), distance = emission.multiply(from, pixels);
  Value count = emission.multiply(rows, pixels);
  constexpr int64_t lanes = 16;
  auto vectorType = VectorType::get({lanes}, type);
  Value whole = emission.multiply(emission.divide(count, emission.getConstant(lanes)), emission.getConstant(lanes));
  emission.forRange(zero, planes, 1, [&](Value plane) {
    Value to = emission.multiply(plane, pitch), source = emission.add(to, distance);
    emission.forRange(zero, whole, lanes, [&](Value at) {
      Value moved = vector::LoadOp::create(builder, location, vectorType, memory, emission.add(source, at));
      vector::StoreOp::create(builder, location, moved, memory, emission.add(to, at));
    });
    emission.forRange(whole, count, 1, [&](Value at) {
      Value moved = memref::LoadOp::create(builder, location, memory, ValueRange{emission.add(source, at)});
      memref::StoreOp::create(builder, location, moved, memory, ValueRange{emission.add(to, at)});
    });
  });
}

SmallVector<RowRange> StagesEmitter::emitTile(Value tile, ArrayRef<RowRange> before) {
  const tile::ChainStage &last = form.stages.back();
  tile::ComputeOp anchor = last.getAnchor();
  SmallVector<Expr> grid, extents = anchor.getExtents();
  for (unsigned loop : last.images)
    grid.push_back(extents[loop]);
  grid.push_back(tiles.rowBlocks);
  SmallVector<Value> digits = emission.unravel(tile, grid);
  Value zero = emission.getConstant(0), block = digits.back();

  // From the last stage back to the first: the rows to compute, and of what is read those that scratch holds then.
  Value rowStep = emission.getSize(tiles.rowStep), first = emission.multiply(block, rowStep);
  Value rows = emission.getSize(last.getRows());
  SmallVector<RowRange> computed(stages.size()), held(tiles.between.size());
  computed.back() = {first, emission.minimum(rows, emission.add(first, rowStep))};
  auto isEqual = [&](Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, lhs, rhs);
  };
  Value isFirst = arith::OrIOp::create(builder, location, isEqual(tile, emission.begin), isEqual(block, zero));
  for (unsigned edge = held.size(); edge-- > 0;) {
    held[edge] = computed[edge] = getWindow(edge, computed[edge + 1]);
    if (!node.getEdges()[edge].getKept())
      continue;
    Value kept = emission.maximum(held[edge].first, emission.minimum(before[edge].end, held[edge].end));
    computed[edge].first = arith::SelectOp::create(builder, location, isFirst, held[edge].first, kept);
    Value from = emission.subtract(held[edge].first, before[edge].first);
    Value count = emission.subtract(computed[edge].first, held[edge].first);
    Value moves = arith::AndIOp::create(
        builder, location, arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, count, zero),
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, from, zero));
    auto branch = scf::IfOp::create(builder, location, moves, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    keepRows(edge, from, count);
  }

  for (unsigned number = 0; number < stages.size(); ++number) {
    const tile::ChainStage &stage = form.stages[number];
    Value unit = stage.isFlat ? emission.getSize(stage.getPixels()) : emission.getConstant(1);
    auto count = [&](Value rowCount) { return emission.multiply(rowCount, unit); };
    Positions places = {{symbols.extent, count(emission.subtract(computed[number].end, computed[number].first))},
                        {symbols.first, count(computed[number].first)}};
    auto add = [&](Expr symbol, Value rowCount) { places.push_back({symbol, count(rowCount)}); };
    bool reads = number > 0, writes = number < held.size();
    add(symbols.from, reads ? held[number - 1].first : zero);
    add(symbols.held, reads ? emission.subtract(held[number - 1].end, held[number - 1].first) : zero);
    add(symbols.heldMost, reads ? emission.getSize(tiles.most[number - 1]) : zero);
    add(symbols.into, writes ? emission.subtract(computed[number].first, held[number].first) : zero);
    add(symbols.intoMost, writes ? emission.getSize(tiles.most[number]) : zero);
    for (auto [symbol, digit] : llvm::zip(symbols.images, digits))
      places.push_back({symbol, digit});
    Value any = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, places.front().value, zero);
    auto branch = scf::IfOp::create(builder, location, any, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    calls.call(number, places);
  }
  return held;
}

void codegen::emitStages(const tile::ChainForm &form, const tile::ChainTiles &tiles, tile::StagesAttr node,
                         ArrayRef<tile::StageProgram> stages, ArrayRef<func::FuncOp> functions, Emission &emission) {
  StagesEmitter(form, tiles, node, stages, functions, emission).emit();
}
