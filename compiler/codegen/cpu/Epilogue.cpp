#include "compiler/codegen/cpu/Epilogue.h"

#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void freestone::codegen::bringCloser(Emission &emission, Value tensor, Value memory, ArrayRef<sym::Expr> indices,
                                     const LanePoints &points, const Ahead &ahead, bool writes) {
  sym::Expr linear = tile::getLinearIndex(cast<graph::TensorType>(tensor.getType()), indices);
  std::optional<sym::Expr> step = tile::getStride(linear, ahead.symbol),
                           alongLanes = tile::getStride(linear, points.lane);
  if (!memory || !step || step->isConstant(0) || !alongLanes || !alongLanes->isConstant(1))
    return;
  Value distance = emission.multiply(emission.getSize(*step), ahead.positions);
  Value address = emission.getPointer(memory, emission.add(emission.getIndex(linear, points.positions), distance));
  Type elementType = cast<MemRefType>(memory.getType()).getElementType();
  int32_t bytes = static_cast<int32_t>(points.lanes * elementType.getIntOrFloatBitWidth() / 8);
  for (int32_t offset = 0; offset < bytes; offset += lineBytes) {
    Value line = LLVM::GEPOp::create(emission.builder, emission.location, address.getType(),
                                     emission.builder.getI8Type(), address, ArrayRef<LLVM::GEPArg>{offset});
    LLVM::Prefetch::create(emission.builder, emission.location, line, /*rw=*/writes, /*hint=*/3, /*cache=*/1);
  }
}

namespace {

/// What follows on the elements of a compute, at their points: one or, of each slice of columns, one.
class PlacedEpilogue {
public:
  PlacedEpilogue(Emission &emission, tile::ComputeOp first, ArrayRef<LanePoints> points)
      : first(first), points(points) {
    SmallVector<tile::ComputeOp> computes = emission.program.getComputes();
    later.append(llvm::find(computes, first) + 1, computes.end());
    epilogue = *tile::Epilogue::get(first, later);
  }

  /// The points of a compute: of each slice, unless it runs over a slice itself.
  SmallVector<LanePoints, 1> getPoints(tile::ComputeOp compute) const {
    if (compute == first)
      return SmallVector<LanePoints, 1>(points);
    const tile::Epilogue::Place &place = epilogue.places.find(compute)->second;
    SmallVector<LanePoints, 1> placed;
    for (const LanePoints &each : place.isOfSlice ? points.take_front() : points) {
      LanePoints &at = placed.emplace_back(each);
      at.loops.clear();
      for (sym::Expr loop : place.loops)
        at.loops.push_back(loop.asSymbol() ? each.loops[*tile::asLoop(*loop.asSymbol())] : loop);
    }
    return placed;
  }

  /// The elements of an operand that a compute reads at its point of a slice; null of what is no result of these.
  Value getElement(tile::ComputeOp compute, unsigned input, unsigned slice) const {
    const tile::Epilogue::Place &place = epilogue.places.find(compute)->second;
    auto known = elements.find(compute.getInputs()[input]);
    if (known == elements.end())
      return Value();
    auto read = place.slices.find(input);
    return known->second[read == place.slices.end() ? slice : read->second];
  }

  SmallVector<tile::ComputeOp> later;
  llvm::DenseMap<Value, SmallVector<Value, 1>> elements;

private:
  tile::ComputeOp first;
  tile::Epilogue epilogue;
  ArrayRef<LanePoints> points;
};

} // namespace

static void bringRow(Emission &emission, const PlacedEpilogue &placed, const Ahead &ahead) {
  for (tile::ComputeOp compute : placed.later)
    for (const LanePoints &at : placed.getPoints(compute))
      for (auto [number, input] : llvm::enumerate(compute.getInputs()))
        if (isa<BlockArgument>(input) && !compute.getFill(number))
          bringCloser(emission, input, emission.getBuffer(input), tile::getIndices(compute, number, at.loops), at,
                      ahead, /*writes=*/false);
  for (auto [number, result] : llvm::enumerate(emission.program.getBody()->getTerminator()->getOperands())) {
    auto compute = result.getDefiningOp<tile::ComputeOp>();
    for (const LanePoints &at : placed.getPoints(compute))
      bringCloser(emission, result, emission.getResultBuffer(number),
                  ArrayRef(at.loops).take_front(compute.getNumParallel()), at, ahead, /*writes=*/true);
  }
}

void freestone::codegen::bringEpilogueRow(Emission &emission, tile::ComputeOp first, ArrayRef<LanePoints> points,
                                          const Ahead &ahead) {
  bringRow(emission, PlacedEpilogue(emission, first, points), ahead);
}

std::optional<MemoryRows> freestone::codegen::getResultRows(Emission &emission, tile::ComputeOp first,
                                                            ArrayRef<LanePoints> points, sym::Expr rows) {
  Value result = emission.program.getBody()->getTerminator()->getOperand(0);
  auto compute = result.getDefiningOp<tile::ComputeOp>();
  LanePoints at = PlacedEpilogue(emission, first, points).getPoints(compute).front();
  auto type = cast<graph::TensorType>(result.getType());
  sym::Expr linear = tile::getLinearIndex(type, ArrayRef(at.loops).take_front(compute.getNumParallel()));
  std::optional<sym::Expr> step = tile::getStride(linear, rows), alongLanes = tile::getStride(linear, at.lane);
  if (!step || step->isConstant(0) || !alongLanes || !alongLanes->isConstant(1))
    return std::nullopt;
  Value memory = emission.getResultBuffer(0);
  int64_t bytes = llvm::divideCeil(cast<MemRefType>(memory.getType()).getElementTypeBitWidth(), 8);
  return MemoryRows{emission.getPointer(memory, emission.getIndex(linear, at.positions)),
                    emission.getSize(*step * bytes)};
}

/// Evaluates the later computes at the results of `first`.
static void evaluate(Emission &emission, tile::ComputeOp first, ValueRange values, PlacedEpilogue &placed) {
  placed.elements[first.getResult(0)] = SmallVector<Value, 1>(values);
  for (tile::ComputeOp compute : placed.later)
    for (auto [slice, at] : llvm::enumerate(placed.getPoints(compute))) {
      BodyVectorizer body(emission, compute, at);
      for (auto [input, argument] : llvm::enumerate(compute.getInputArgs()))
        if (Value known = placed.getElement(compute, input, slice))
          body.set(argument, known);
      for (auto [result, lanes] : llvm::zip_equal(compute.getResults(), body.getYielded()))
        placed.elements[result].push_back(lanes);
    }
}

static void store(Emission &emission, const PlacedEpilogue &placed) {
  for (auto [number, result] : llvm::enumerate(emission.program.getBody()->getTerminator()->getOperands())) {
    auto compute = result.getDefiningOp<tile::ComputeOp>();
    for (auto [at, lanes] : llvm::zip_equal(placed.getPoints(compute), placed.elements.lookup(result)))
      BodyVectorizer(emission, compute, at)
          .store(lanes, cast<graph::TensorType>(result.getType()), emission.getResultBuffer(number));
  }
}

void freestone::codegen::emitEpilogue(Emission &emission, tile::ComputeOp first, ValueRange values,
                                      ArrayRef<LanePoints> points, std::optional<Ahead> ahead) {
  PlacedEpilogue placed(emission, first, points);
  if (ahead)
    bringRow(emission, placed, *ahead);
  evaluate(emission, first, values, placed);
  store(emission, placed);
}

/// Puts operations of chains with functions side by side, as far as they do not wait for others: each function is a
/// long chain itself, and a scheduler has room for two or three that follow each other.
static void interleave(OpBuilder &builder, ArrayRef<SmallVector<Operation *>> chains) {
  llvm::DenseSet<Operation *> left;
  for (ArrayRef<Operation *> chain : chains) {
    bool hasFunctions = llvm::any_of(chain, [](Operation *op) { return isa<math::MathDialect>(op->getDialect()); });
    if (!hasFunctions || llvm::any_of(chain, [](Operation *op) { return op->getNumRegions() > 0; }))
      return;
    left.insert(chain.begin(), chain.end());
  }
  SmallVector<size_t> next(chains.size(), 0);
  while (!left.empty())
    for (auto [chain, number] : llvm::zip_equal(chains, next)) {
      if (number == chain.size())
        continue;
      Operation *op = chain[number];
      if (llvm::any_of(op->getOperands(), [&](Value operand) { return left.contains(operand.getDefiningOp()); }))
        continue;
      op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      left.erase(op);
      ++number;
    }
}

void freestone::codegen::emitEpilogues(Emission &emission, tile::ComputeOp first, ArrayRef<EpilogueArguments> all) {
  SmallVector<PlacedEpilogue> placed;
  for (const EpilogueArguments &each : all) {
    placed.emplace_back(emission, first, each.points);
    if (each.ahead)
      bringRow(emission, placed.back(), *each.ahead);
  }
  OpBuilder &builder = emission.builder;
  SmallVector<SmallVector<Operation *>> chains;
  for (auto [epilogue, each] : llvm::zip_equal(placed, all)) {
    Block *block = builder.getInsertionBlock();
    Operation *before =
        builder.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(builder.getInsertionPoint());
    evaluate(emission, first, each.value, epilogue);
    auto begin = before ? std::next(before->getIterator()) : block->begin();
    chains.push_back(
        llvm::map_to_vector(llvm::make_range(begin, builder.getInsertionPoint()), [](Operation &op) { return &op; }));
  }
  interleave(builder, chains);
  for (const PlacedEpilogue &epilogue : placed)
    store(emission, epilogue);
}
