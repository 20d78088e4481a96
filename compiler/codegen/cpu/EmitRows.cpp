#include "compiler/codegen/cpu/EmitRows.h"

#include "compiler/codegen/cpu/EmitRowBlocks.h"
#include "compiler/codegen/cpu/LaneReduction.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::getRowLength;
using tile::getRowPasses;
using tile::RowPasses;
using tile::RowRole;

namespace {

class RowEmitter {
public:
  RowEmitter(Emission &emission, RowPasses passes, tile::RowsTilingAttr tiling)
      : emission(emission), builder(emission.builder), location(emission.location), tiling(tiling),
        passes(std::move(passes)), rowLoops(tiling.getRowLoops()) {}

  void emit();

private:
  /// A reduction of the current pass, with the index of its accumulators in the pass.
  struct Reduction {
    LaneReduction lanes;
    unsigned first;
  };

  /// All computes of one pass over a row.
  struct Pass {
    unsigned number;
    SmallVector<Reduction> reductions;
    /// The loops over the row's elements; several if they are not merged.
    SmallVector<Expr> extents;
    unsigned lanes;
    /// Vectors that are computed side by side, each with accumulators of its own.
    unsigned sideBySide;
  };

  /// Neighbouring elements of the current row that are computed as one vector.
  struct Elements {
    /// The loop positions of lane 0.
    SmallVector<Value> loops;
    /// Lane 0's number in the row.
    Value number;
    unsigned lanes = 1;
    Value mask = {};
  };

  void emitRow(Value row);
  void emitScalars(unsigned before);
  SmallVector<Expr> getLoops(unsigned number);
  void emitPass(unsigned number);
  SmallVector<Value> emitLoops(Pass &pass, Elements outer, ValueRange accumulators);
  SmallVector<Value> emitRun(Pass &pass, const Elements &outer, ValueRange accumulators);
  SmallVector<Value> emitVectors(Pass &pass, const Elements &outer, Value from, Value end, unsigned count,
                                 ValueRange accumulators);
  SmallVector<Value> emitSideBySide(Pass &pass, const Elements &outer, Value end, ValueRange accumulators);
  SmallVector<Value> emitIf(Value condition, ValueRange accumulators, llvm::function_ref<SmallVector<Value>()> update);
  Value isBehind(Value column, Value other) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, column, other);
  }
  SmallVector<Value> emitElements(Pass &pass, const Elements &elements, ValueRange accumulators);
  Elements getElements(const Pass &pass, const Elements &outer, Value column, Value mask);
  LanePoints getPoints(tile::ComputeOp compute, const Elements &elements);
  void setInputs(BodyVectorizer &body, tile::ComputeOp compute, const Elements &elements);
  void keep(Value result, Value value, const Elements &elements);
  Value loadKept(Value result, const Elements &elements);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::RowsTilingAttr tiling;
  RowPasses passes;
  unsigned rowLoops;
  /// Indices of the current row.
  SmallVector<Value> rowIndices;
  /// Values of the row, and of elements at the current point.
  DenseMap<Value, Value> computed;
  DenseMap<Value, Value> scratch;
};

void RowEmitter::emit() {
  for (Value result : passes.kept) {
    auto type = cast<graph::TensorType>(result.getType());
    Expr length = getRowLength(result.getDefiningOp<tile::ComputeOp>(), rowLoops);
    scratch[result] = emission.takeScratch(tile::getStorageType(type.getElementType()), length);
  }
  SmallVector<Expr> extents = passes.entries.front().compute.getExtents();
  ArrayRef<Expr> rowExtents = ArrayRef(extents).take_front(rowLoops);
  Expr count = Expr::constant(builder.getContext(), 1);
  for (Expr extent : rowExtents)
    count = count * extent;
  Value rowsPerTile = emission.getSize(tiling.getRows());
  emission.forTiles([&](Value tile) {
    Value first = emission.multiply(tile, rowsPerTile);
    Value last = emission.minimum(emission.add(first, rowsPerTile), emission.getSize(count));
    emission.forRange(first, last, 1, [&](Value row) {
      rowIndices = emission.unravel(row, rowExtents);
      emitRow(row);
    });
  });
}

void RowEmitter::emitRow(Value row) {
  computed.clear();
  for (unsigned pass = 0; pass < passes.passes; ++pass) {
    emitScalars(pass);
    emitPass(pass);
  }
  emitScalars(passes.passes);
}

LanePoints RowEmitter::getPoints(tile::ComputeOp compute, const Elements &elements) {
  LanePoints points;
  points.lanes = elements.lanes;
  points.mask = elements.mask;
  for (auto [number, value] : llvm::enumerate(rowIndices)) {
    Expr symbol = emission.getPositionSymbol("row" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  if (elements.loops.empty())
    return points;
  for (auto [number, value] : llvm::enumerate(ArrayRef(elements.loops).drop_back())) {
    Expr symbol = emission.getPositionSymbol("element" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  Expr symbol = emission.getPositionSymbol("column");
  points.positions.push_back({symbol, elements.loops.back()});
  if (elements.lanes > 1)
    points.lane = symbol;
  // The column counts the elements of all remaining loops.
  SmallVector<Expr> extents = compute.getExtents();
  SmallVector<Expr> digits;
  Expr rest = symbol;
  unsigned left = points.loops.size();
  for (unsigned loop = compute.getNumLoops(); loop > left; --loop) {
    bool outermost = loop - 1 == left;
    digits.push_back(outermost ? rest : Expr::mod(rest, extents[loop - 1]));
    if (!outermost)
      rest = Expr::floorDiv(rest, extents[loop - 1]);
  }
  llvm::append_range(points.loops, llvm::reverse(digits));
  return points;
}

void RowEmitter::setInputs(BodyVectorizer &body, tile::ComputeOp compute, const Elements &elements) {
  for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs())) {
    if (Value value = computed.lookup(input))
      body.set(argument, value);
    else if (scratch.count(input))
      body.set(argument, loadKept(input, elements));
  }
}

void RowEmitter::emitScalars(unsigned before) {
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::scalar || entry.pass != before)
      continue;
    tile::ComputeOp compute = entry.compute;
    BodyVectorizer body(emission, compute, getPoints(compute, {}));
    setInputs(body, compute, {});
    for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded())) {
      computed[result] = value;
      if (Value memory = emission.getBuffer(result))
        body.store(value, cast<graph::TensorType>(result.getType()), memory);
    }
  }
}

/// The extents of the loops of a pass over the elements of a row.
SmallVector<Expr> RowEmitter::getLoops(unsigned number) {
  if (tiling.getRunLoops()[number] > 1)
    return *tile::getPassExtents(passes, number, rowLoops);
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar && entry.pass == number)
      return {getRowLength(entry.compute, rowLoops)};
  llvm_unreachable("a pass has a compute");
}

void RowEmitter::emitPass(unsigned number) {
  Pass pass{number,
            {},
            getLoops(number),
            static_cast<unsigned>(tiling.getLanes()[number]),
            static_cast<unsigned>(tiling.getAccumulators()[number])};
  SmallVector<Value> accumulators;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction || entry.pass != number)
      continue;
    Reduction &reduction = pass.reductions.emplace_back(
        Reduction{LaneReduction(emission, entry.compute, pass.lanes), static_cast<unsigned>(accumulators.size())});
    llvm::append_range(accumulators, reduction.lanes.getStart());
  }
  accumulators = emitLoops(pass, {{}, emission.getConstant(0)}, accumulators);

  for (Reduction &reduction : pass.reductions) {
    tile::ComputeOp compute = reduction.lanes.getCompute();
    LanePoints row = getPoints(compute, {});
    ArrayRef<Value> kept = ArrayRef(accumulators).slice(reduction.first, compute.getNumResults());
    SmallVector<Value> results = reduction.lanes.emitResults(row, kept, emission.getSize(pass.extents.back()));
    for (auto [tensor, value] : llvm::zip_equal(compute.getResults(), results)) {
      computed[tensor] = value;
      if (Value memory = emission.getBuffer(tensor))
        BodyVectorizer(emission, compute, row).store(value, cast<graph::TensorType>(tensor.getType()), memory);
    }
  }
}

/// The remaining loops of a pass; returns the final accumulators.
SmallVector<Value> RowEmitter::emitLoops(Pass &pass, Elements outer, ValueRange accumulators) {
  unsigned depth = outer.loops.size();
  if (depth + 1 == pass.extents.size())
    return emitRun(pass, outer, accumulators);
  Value extent = emission.getSize(pass.extents[depth]);
  auto loop =
      scf::ForOp::create(builder, location, emission.getConstant(0), extent, emission.getConstant(1), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  outer.loops.push_back(loop.getInductionVar());
  outer.number =
      emission.multiply(emission.add(outer.number, loop.getInductionVar()), emission.getSize(pass.extents[depth + 1]));
  SmallVector<Value> next = emitLoops(pass, outer, loop.getRegionIterArgs());
  // Without accumulators the loop already has its terminator.
  if (!next.empty())
    scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

RowEmitter::Elements RowEmitter::getElements(const Pass &pass, const Elements &outer, Value column, Value mask) {
  Elements elements{outer.loops, emission.add(outer.number, column), pass.lanes, mask};
  elements.loops.push_back(column);
  return elements;
}

/// Whole vectors of the innermost loop, `count` in each turn with accumulators of their own, from the column `from` up
/// to `end`; returns the accumulators of all of them.
SmallVector<Value> RowEmitter::emitVectors(Pass &pass, const Elements &outer, Value from, Value end, unsigned count,
                                           ValueRange accumulators) {
  size_t each = accumulators.size() / count;
  Value width = emission.getConstant(count * pass.lanes);
  auto loop = scf::ForOp::create(builder, location, from, end, width, accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next;
  for (unsigned vector = 0; vector < count; ++vector) {
    Value column = emission.add(loop.getInductionVar(), emission.getConstant(vector * pass.lanes));
    llvm::append_range(next, emitElements(pass, getElements(pass, outer, column, {}),
                                          loop.getRegionIterArgs().slice(vector * each, each)));
  }
  // Without accumulators the loop has its terminator already.
  if (!next.empty())
    scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Vectors side by side, up to the column `end`. Their accumulators are combined in order behind them: a row that is
/// too short for them has none to combine.
SmallVector<Value> RowEmitter::emitSideBySide(Pass &pass, const Elements &outer, Value end, ValueRange accumulators) {
  return emitIf(isBehind(end, emission.getConstant(0)), accumulators, [&] {
    SmallVector<Value> all = llvm::to_vector_of<Value>(accumulators);
    for (unsigned vector = 1; vector < pass.sideBySide; ++vector)
      for (Reduction &reduction : pass.reductions)
        llvm::append_range(all, reduction.lanes.getStart());
    all = emitVectors(pass, outer, emission.getConstant(0), end, pass.sideBySide, all);
    SmallVector<Value> combined;
    for (Reduction &reduction : pass.reductions) {
      auto getAccumulators = [&](unsigned vector) {
        return ArrayRef(all).slice(vector * accumulators.size() + reduction.first,
                                   tile::ComputeOp(reduction.lanes.getCompute()).getNumResults());
      };
      SmallVector<Value> kept = llvm::to_vector(getAccumulators(0));
      for (unsigned vector = 1; vector < pass.sideBySide; ++vector)
        kept = reduction.lanes.emitCombined(kept, getAccumulators(vector));
      llvm::append_range(combined, kept);
    }
    return combined;
  });
}

/// Updates accumulators under a condition.
SmallVector<Value> RowEmitter::emitIf(Value condition, ValueRange accumulators,
                                      llvm::function_ref<SmallVector<Value>()> update) {
  auto branch = scf::IfOp::create(builder, location, accumulators.getTypes(), condition,
                                  /*withElseRegion=*/!accumulators.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> next = update();
  if (!next.empty()) {
    scf::YieldOp::create(builder, location, next);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, location, accumulators);
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// The innermost loop: whole vectors, several side by side if the tiling says so, then a masked one.
SmallVector<Value> RowEmitter::emitRun(Pass &pass, const Elements &outer, ValueRange accumulators) {
  Value extent = emission.getSize(pass.extents.back()), column = emission.getConstant(0);
  auto getEnd = [&](unsigned vectors) {
    Value width = emission.getConstant(vectors * pass.lanes);
    return emission.multiply(emission.divide(extent, width), width);
  };
  SmallVector<Value> behind = llvm::to_vector_of<Value>(accumulators);
  if (pass.sideBySide > 1) {
    column = getEnd(pass.sideBySide);
    behind = emitSideBySide(pass, outer, column, behind);
  }
  Value end = getEnd(1);
  behind = emitVectors(pass, outer, column, end, 1, behind);
  if (pass.lanes == 1)
    return behind;
  Value left = emission.subtract(extent, end);
  return emitIf(isBehind(extent, end), behind, [&] {
    return emitElements(pass, getElements(pass, outer, end, emission.getTailMask(pass.lanes, left)), behind);
  });
}

/// All computes of a pass at some elements; returns the updated accumulators.
SmallVector<Value> RowEmitter::emitElements(Pass &pass, const Elements &elements, ValueRange accumulators) {
  SmallVector<Value> next = llvm::to_vector_of<Value>(accumulators);
  SmallVector<Value> here;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role == RowRole::scalar || entry.pass != pass.number)
      continue;
    tile::ComputeOp compute = entry.compute;
    BodyVectorizer body(emission, compute, getPoints(compute, elements));
    setInputs(body, compute, elements);
    if (entry.role == RowRole::elements) {
      for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded())) {
        computed[result] = value;
        here.push_back(result);
        if (Value memory = emission.getBuffer(result))
          body.store(value, cast<graph::TensorType>(result.getType()), memory);
        if (passes.kept.contains(result))
          keep(result, body.spread(value), elements);
      }
      continue;
    }

    Reduction &reduction =
        *llvm::find_if(pass.reductions, [&](const Reduction &other) { return other.lanes.getCompute() == compute; });
    MutableArrayRef<Value> kept = MutableArrayRef(next).slice(reduction.first, compute.getNumResults());
    llvm::copy(reduction.lanes.emitStep(body, ArrayRef<Value>(kept), elements.mask), kept.begin());
  }
  // Values of elements are valid at this point only.
  for (Value result : here)
    computed.erase(result);
  return next;
}

void RowEmitter::keep(Value result, Value value, const Elements &elements) {
  Value number = elements.number, mask = elements.mask;
  unsigned lanes = elements.lanes;
  Type storage = tile::getStorageType(cast<graph::TensorType>(result.getType()).getElementType());
  Type type = lanes > 1 ? Type(VectorType::get({lanes}, storage)) : storage;
  if (value.getType() != type)
    value = arith::ExtUIOp::create(builder, location, type, value);
  Value memory = scratch.lookup(result);
  if (lanes == 1)
    memref::StoreOp::create(builder, location, value, memory, number);
  else if (mask)
    vector::MaskedStoreOp::create(builder, location, memory, number, mask, value);
  else
    vector::StoreOp::create(builder, location, value, memory, number);
}

Value RowEmitter::loadKept(Value result, const Elements &elements) {
  Value number = elements.number, mask = elements.mask;
  unsigned lanes = elements.lanes;
  Type element = cast<graph::TensorType>(result.getType()).getElementType();
  Type storage = tile::getStorageType(element), scalar = tile::getScalarType(element);
  Value memory = scratch.lookup(result), value;
  if (lanes == 1) {
    value = memref::LoadOp::create(builder, location, memory, number);
  } else {
    auto type = VectorType::get({lanes}, storage);
    Value rest = getLaneConstant(emission, builder.getZeroAttr(storage), lanes);
    value = mask ? vector::MaskedLoadOp::create(builder, location, type, memory, number, mask, rest).getResult()
                 : vector::LoadOp::create(builder, location, type, memory, number).getResult();
  }
  if (scalar == storage)
    return value;
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value,
                               getLaneConstant(emission, builder.getZeroAttr(storage), lanes));
}

} // namespace

void codegen::emitRows(tile::ProgramOp program, Emission &emission) {
  auto tiling = program.getTiling<tile::RowsTilingAttr>();
  if (tiling.hasBlocks())
    return emitRowBlocks(program, emission);
  std::string why;
  RowEmitter(emission, *getRowPasses(program, tiling.getRowLoops(), why), tiling).emit();
}
