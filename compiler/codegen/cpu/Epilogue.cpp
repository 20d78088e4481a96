#include "compiler/codegen/cpu/Epilogue.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void freestone::codegen::bringCloser(Emission &emission, Value tensor, Value memory, ArrayRef<sym::Expr> indices,
                                     const LanePoints &points, const Position &ahead, bool writes) {
  sym::Expr linear = tile::getLinearIndex(cast<graph::TensorType>(tensor.getType()), indices);
  std::optional<sym::Expr> step = getStride(linear, ahead.symbol), alongLanes = getStride(linear, points.lane);
  if (!memory || !step || step->isConstant(0) || !alongLanes || !alongLanes->isConstant(1))
    return;
  Positions positions = points.positions;
  for (Position &position : positions)
    if (position.symbol == ahead.symbol)
      position.value = ahead.value;
  Value address = emission.getPointer(memory, emission.getIndex(linear, positions));
  constexpr int32_t lineBytes = 64;
  Type elementType = cast<MemRefType>(memory.getType()).getElementType();
  int32_t bytes = static_cast<int32_t>(points.lanes * elementType.getIntOrFloatBitWidth() / 8);
  for (int32_t offset = 0; offset < bytes; offset += lineBytes) {
    Value line = LLVM::GEPOp::create(emission.builder, emission.location, address.getType(),
                                     emission.builder.getI8Type(), address, ArrayRef<LLVM::GEPArg>{offset});
    LLVM::Prefetch::create(emission.builder, emission.location, line, /*rw=*/writes, /*hint=*/3, /*cache=*/1);
  }
}

/// The points at which the later computes of a program, and the first, have the elements of the first one's points.
static llvm::DenseMap<Value, LanePoints> getPlaces(ArrayRef<tile::ComputeOp> later, tile::ComputeOp first,
                                                   const LanePoints &points) {
  llvm::DenseMap<Value, LanePoints> places;
  places[first.getResult(0)] = points;
  for (tile::ComputeOp compute : later) {
    LanePoints here = points;
    for (Value operand : compute.getInputs())
      if (auto place = places.find(operand); place != places.end()) {
        unsigned rank = cast<graph::TensorType>(operand.getType()).getShape().size();
        here.loops = *tile::getLoopsAt(compute, operand, ArrayRef(place->second.loops).take_front(rank));
      }
    for (Value result : compute.getResults())
      places[result] = here;
  }
  return places;
}

static SmallVector<tile::ComputeOp> getLater(Emission &emission, tile::ComputeOp first) {
  SmallVector<tile::ComputeOp> computes = emission.program.getComputes();
  return SmallVector<tile::ComputeOp>(llvm::drop_begin(computes, llvm::find(computes, first) - computes.begin() + 1));
}

void freestone::codegen::bringEpilogueRow(Emission &emission, tile::ComputeOp first, const LanePoints &points,
                                          const Position &ahead) {
  SmallVector<tile::ComputeOp> later = getLater(emission, first);
  llvm::DenseMap<Value, LanePoints> places = getPlaces(later, first, points);
  for (tile::ComputeOp compute : later)
    for (auto [number, input] : llvm::enumerate(compute.getInputs()))
      if (!places.contains(input) && !compute.getFill(number)) {
        auto indices = tile::getIndices(compute, number, places.lookup(compute.getResult(0)).loops);
        bringCloser(emission, input, emission.getBuffer(input), indices, points, ahead, /*writes=*/false);
      }
  for (auto [number, result] : llvm::enumerate(emission.program.getBody()->getTerminator()->getOperands()))
    bringCloser(emission, result, emission.getResultBuffer(number),
                ArrayRef(places.lookup(result).loops)
                    .take_front(result.getDefiningOp<tile::ComputeOp>().getNumParallel()),
                points, ahead, /*writes=*/true);
}

void freestone::codegen::emitEpilogue(Emission &emission, tile::ComputeOp first, Value value, const LanePoints &points,
                                      std::optional<Position> ahead) {
  SmallVector<tile::ComputeOp> later = getLater(emission, first);
  llvm::DenseMap<Value, LanePoints> places = getPlaces(later, first, points);
  if (ahead)
    bringEpilogueRow(emission, first, points, *ahead);
  llvm::DenseMap<Value, Value> elements;
  elements[first.getResult(0)] = value;
  for (tile::ComputeOp compute : later) {
    BodyVectorizer body(emission, compute, places.lookup(compute.getResult(0)));
    for (auto [operand, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      if (Value known = elements.lookup(operand))
        body.set(argument, known);
    for (auto [result, lanes] : llvm::zip_equal(compute.getResults(), body.getYielded()))
      elements[result] = lanes;
  }
  for (auto [number, result] : llvm::enumerate(emission.program.getBody()->getTerminator()->getOperands())) {
    auto compute = result.getDefiningOp<tile::ComputeOp>();
    BodyVectorizer(emission, compute, places.lookup(result))
        .store(elements.lookup(result), cast<graph::TensorType>(result.getType()), emission.getResultBuffer(number));
  }
}

void freestone::codegen::forPanelColumns(Emission &emission, Value count, sym::Expr extent,
                                         tile::MicroKernelAttr kernel,
                                         llvm::function_ref<void(Value, unsigned, Value)> body) {
  int64_t lanes = kernel.getLanes(), together = kernel.getVectors() % 2 ? lanes : 2 * lanes;
  sym::Bounds bounds(sym::Interval::size());
  Value zero = emission.getConstant(0), whole = count;
  if (together == kernel.getWidth() && bounds.isMultipleOf(extent, together))
    return body(zero, together, Value());
  bool hasRest = !bounds.isMultipleOf(extent, together), hasMask = !bounds.isMultipleOf(extent, lanes);
  if (hasRest) {
    Value size = emission.getConstant(together);
    whole = emission.multiply(emission.divide(count, size), size);
  }
  if (bounds.interval(extent).hi >= together)
    emission.forRange(zero, whole, together, [&](Value column) { body(column, together, Value()); });
  if (hasRest)
    emission.forRange(whole, count, lanes, [&](Value column) {
      body(column, lanes, hasMask ? emission.getTailMask(lanes, emission.subtract(count, column)) : Value());
    });
}
