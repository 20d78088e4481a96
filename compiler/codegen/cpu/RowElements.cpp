#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/RowEmitter.h"
#include "compiler/codegen/cpu/SharedValues.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::RowPasses;
using tile::RowRole;

SmallVector<tile::ComputeOp> RowEmitter::getComputes(tile::EvaluateAttr node) {
  SmallVector<tile::ComputeOp> computes = emission.program.getComputes();
  return llvm::map_to_vector(node.getComputes(), [&](int64_t number) { return computes[number]; });
}

/// Whether the reductions of a compute run within each element of a row, rather than along the row.
bool RowEmitter::reducesWithin(tile::ComputeOp compute) {
  return compute.getNumReductions() > 0 && passes.find(compute.getResult(0))->role != RowRole::reduction;
}

LanePoints RowEmitter::getPoints(tile::ComputeOp compute, const Elements &elements) {
  LanePoints points;
  points.lanes = elements.lanes;
  points.mask = elements.mask;
  for (auto [number, value] : llvm::enumerate(rows[elements.row].indices)) {
    Expr symbol = emission.getPositionSymbol("row" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  if (elements.loops.empty()) {
    if (elements.along)
      points.lane = points.loops[*elements.along];
    return points;
  }
  for (auto [number, value] : llvm::enumerate(ArrayRef(elements.loops).drop_back())) {
    Expr symbol = emission.getPositionSymbol("element" + std::to_string(number));
    points.loops.push_back(symbol);
    points.positions.push_back({symbol, value});
  }
  Expr symbol = emission.getPositionSymbol("column");
  points.positions.push_back({symbol, elements.loops.back()});
  if (elements.lanes > 1)
    points.lane = elements.along ? points.loops[*elements.along] : symbol;
  // The column counts the elements of all remaining loops but those of reductions within an element.
  SmallVector<Expr> extents = compute.getExtents();
  SmallVector<Expr> digits;
  Expr rest = symbol;
  unsigned left = points.loops.size();
  for (unsigned loop = reducesWithin(compute) ? compute.getNumParallel() : compute.getNumLoops(); loop > left; --loop) {
    bool outermost = loop - 1 == left;
    digits.push_back(outermost ? rest : Expr::mod(rest, extents[loop - 1]));
    if (!outermost)
      rest = Expr::floorDiv(rest, extents[loop - 1]);
  }
  llvm::append_range(points.loops, llvm::reverse(digits));
  return points;
}

void RowEmitter::setInputs(BodyVectorizer &body, tile::ComputeOp compute, const Elements &elements) {
  // Whole rows together have a lane each.
  const auto &computed = elements.loops.empty() && elements.lanes > 1 ? ofRows : rows[elements.row].computed;
  for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs())) {
    if (Value value = elements.computed.lookup(argument))
      body.set(argument, value);
    else if (Value value = elements.computed.lookup(input))
      body.set(argument, value);
    else if (Value value = computed.lookup(input))
      body.set(argument, value);
    else if (scratch.count(input))
      body.set(argument, loadKept(input, elements));
  }
}

void RowEmitter::store(tile::ComputeOp compute, Value result, Value value, const Elements &elements) {
  if (Value memory = emission.getBuffer(result))
    BodyVectorizer(emission, compute, getPoints(compute, elements))
        .store(value, cast<graph::TensorType>(result.getType()), memory);
  if (passes.kept.contains(result))
    keep(result, BodyVectorizer(emission, compute, getPoints(compute, elements)).spread(value), elements);
}

/// Computes at the current vectors, whose reductions along the row update the carried accumulators; or, within loops of
/// their own reductions, a step of these.
void RowEmitter::emitEvaluate(tile::EvaluateAttr node) {
  if (squares)
    return emitSquare();
  SmallVector<tile::ComputeOp> computes = getComputes(node);
  if (!reduced.empty())
    return emitReductionStep(computes);
  if (node.getAhead())
    prefetchRows();
  Loaded loaded;
  atVectors(computes, [&] {
    for (tile::ComputeOp compute : computes)
      if (passes.find(compute.getResult(0))->role == RowRole::reduction)
        accumulate(compute, loaded);
      else
        emitValues(compute, vectors);
  });
}

/// Accumulators of one vector, then of the next one; of each, those of one row, then of the next one.
void RowEmitter::accumulate(tile::ComputeOp compute, Loaded &loaded) {
  Reduction &reduction =
      *llvm::find_if(pass->reductions, [&](Reduction &other) { return other.lanes.getCompute() == compute; });
  size_t ofVector = carried.size() / vectors.size();
  for (auto [number, elements] : llvm::enumerate(vectors)) {
    BodyVectorizer body(emission, compute, getPoints(compute, elements));
    setInputs(body, compute, elements);
    if (elements.row == 0)
      loaded.clear();
    if (blocks)
      shareLoads(body, elements, loaded);
    auto kept = MutableArrayRef(carried).slice(number * ofVector + reduction.first, compute.getNumResults());
    llvm::copy(reduction.lanes.emitStep(body, ArrayRef<Value>(kept), elements.mask), kept.begin());
  }
}

/// Brings closer what the first pass reads of the rows behind the current ones, at the same elements. Processors fetch
/// ahead within a row, but do not see where the next one begins while the current one is computed.
void RowEmitter::prefetchRows() {
  Expr lastLoop = emission.getPositionSymbol("row" + std::to_string(grid.rowExtents.size() - 1));
  for (const Elements &elements : vectors) {
    if (elements.lanes == 1 || elements.mask)
      continue;
    Ahead ahead{lastLoop, emission.getConstant(static_cast<int64_t>(rows.size()))};
    llvm::SmallSetVector<Value, 4> tensors;
    for (const RowPasses::Entry &entry : passes.entries) {
      tile::ComputeOp compute = entry.compute;
      if (entry.pass != 0 || entry.role == RowRole::scalar)
        continue;
      LanePoints points = getPoints(compute, elements);
      for (auto [number, input] : llvm::enumerate(compute.getInputs()))
        if (!passes.find(input) && !compute.getFill(number) && tensors.insert(input))
          bringCloser(emission, input, emission.getBuffer(input), tile::getIndices(compute, number, points.loops),
                      points, ahead, /*writes=*/false);
    }
  }
}

/// Results at each of some vectors are stored and kept.
void RowEmitter::storeResults(tile::ComputeOp compute, MutableArrayRef<Elements> vectors) {
  for (Elements &elements : vectors)
    for (Value result : compute.getResults())
      store(compute, result, elements.computed[result], elements);
}

/// The results of a map at each of some vectors, which are stored and kept.
void RowEmitter::emitValues(tile::ComputeOp compute, MutableArrayRef<Elements> vectors) {
  emitMap(compute, vectors);
  storeResults(compute, vectors);
}

void RowEmitter::emitMap(tile::ComputeOp compute, MutableArrayRef<Elements> vectors) {
  SmallVector<BodyVectorizer, 0> bodies;
  for (Elements &elements : vectors) {
    BodyVectorizer &body = bodies.emplace_back(emission, compute, getPoints(compute, elements));
    body.share(shared[compute]);
    body.assume(facts[compute]);
    setInputs(body, compute, elements);
  }
  // Each operation for all vectors, before the next one: chains are longer than a processor looks ahead.
  if (bodies.size() > 1)
    for (Operation &op : compute.getBody()->without_terminator())
      for (BodyVectorizer &body : bodies)
        for (Value result : op.getResults())
          body.get(result);
  for (auto [elements, body] : llvm::zip_equal(vectors, bodies))
    for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded()))
      elements.computed[result] = value;
}

/// The loops of reductions within the elements of the current vectors, which carry their accumulators.
void RowEmitter::emitInnerReductions(tile::BlocksAttr node) {
  SmallVector<tile::ComputeOp> computes = getComputes(cast<tile::EvaluateAttr>(getLeaf(node)));
  unsigned loop = node.getAxis() - tile::RowAxis::loops;
  Value extent = emission.getSize(computes.front().getExtents()[loop]);
  auto forSteps = [&] {
    forRange(emission.getConstant(0), extent, emission.getConstant(1), [&](Value step) {
      reduced.push_back({emission.getPositionSymbol("reduced" + std::to_string(loop)), step});
      walk(node.getBody().getValue());
      reduced.pop_back();
    });
  };
  if (!reduced.empty())
    return forSteps();
  atVectors(computes, [&] {
    SmallVector<Value> start;
    for (Elements &elements : vectors)
      for (tile::ComputeOp compute : computes)
        for (unsigned result = 0; result < compute.getNumResults(); ++result)
          start.push_back(getLaneConstant(emission, compute.getInit(result), elements.lanes));
    SmallVector<Value> values = carry(start, forSteps);
    auto next = values.begin();
    for (Elements &elements : vectors)
      for (tile::ComputeOp compute : computes)
        for (Value result : compute.getResults())
          elements.computed[result] = *next++;
    for (tile::ComputeOp compute : computes)
      storeResults(compute, vectors);
  });
}

/// A step of reductions within the elements of the current vectors.
void RowEmitter::emitReductionStep(ArrayRef<tile::ComputeOp> computes) {
  SmallVector<Value> next;
  for (const Elements &elements : vectors)
    for (tile::ComputeOp compute : computes) {
      LanePoints points = getPoints(compute, elements);
      for (const Position &position : reduced) {
        points.loops.push_back(position.symbol);
        points.positions.push_back(position);
      }
      BodyVectorizer body(emission, compute, std::move(points));
      auto accumulators = ArrayRef(carried).slice(next.size(), compute.getNumResults());
      for (auto [argument, value] : llvm::zip_equal(compute.getAccumulators(), accumulators))
        body.set(argument, value);
      setInputs(body, compute, elements);
      for (Value value : body.getYielded())
        next.push_back(body.spread(value));
    }
  carried = next;
}

/// Whether bodies have values that all columns or all vectors of a row share: columns are the innermost loop then.
bool RowEmitter::canShareValues(unsigned lanes) {
  auto isElements = [&](const RowPasses::Entry &entry) {
    tile::ComputeOp compute = entry.compute;
    return entry.role == RowRole::elements && compute.getNumParallel() == grid.rowExtents.size() + 1;
  };
  return passes.passes == 1 && llvm::all_of(passes.entries, isElements) &&
         llvm::any_of(passes.entries,
                      [&](const RowPasses::Entry &entry) { return hasSharedValues(entry.compute, lanes); });
}

/// Emits them at the first column.
void RowEmitter::shareValues(Value column, unsigned lanes) {
  Elements point = pass->outer;
  point.loops.push_back(column);
  Elements vector = point;
  vector.lanes = lanes;
  for (const RowPasses::Entry &entry : passes.entries)
    shared[entry.compute] =
        emitSharedValues(emission, entry.compute, getPoints(entry.compute, point), getPoints(entry.compute, vector));
}

/// Where an element is kept: behind those of the rows before, if rows are together.
Value RowEmitter::getKeptPlace(const Elements &elements) {
  if (!areTogether() || !elements.row)
    return elements.number;
  return emission.add(elements.number, emission.getConstant(elements.row * grid.getKeptPitch()));
}

void RowEmitter::keep(Value result, Value value, const Elements &elements) {
  Value number = getKeptPlace(elements), mask = elements.mask;
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
  Value number = getKeptPlace(elements), mask = elements.mask;
  unsigned lanes = elements.lanes;
  Type element = cast<graph::TensorType>(result.getType()).getElementType();
  Type storage = tile::getStorageType(element), scalar = tile::getScalarType(element);
  Value memory = scratch.lookup(result), value;
  if (across && across->argument == result)
    number = emission.add(number, placeOfRow);
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
