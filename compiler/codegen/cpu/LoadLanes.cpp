#include "compiler/codegen/cpu/VectorizeBody.h"

#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// An index that is constant over several lanes, then grows by one; `number` grows by one with every lane.
struct Repetition {
  Expr number;
  int64_t times;
};

} // namespace

/// Nothing unless the index has this form, or if most of a vector would be a single element.
static std::optional<Repetition> getRepetition(Expr index, Expr lane) {
  constexpr int64_t mostTimes = 4;
  std::optional<Repetition> repetition;
  for (const sym::Term &term : index.terms())
    for (const sym::Factor &factor : term.factors) {
      if (!tile::dependsOnSymbol(factor.atom, lane))
        continue;
      std::optional<int64_t> times;
      if (factor.atom.kind() == sym::Kind::FloorDiv)
        times = factor.atom.operands()[1].asConstant();
      if (repetition || term.coefficient != 1 || term.factors.size() != 1 || factor.power != 1 || !times ||
          *times < 2 || *times > mostTimes)
        return std::nullopt;
      std::optional<Expr> stride = tile::getStride(factor.atom.operands()[0], lane);
      if (!stride || !stride->isConstant(1))
        return std::nullopt;
      repetition = Repetition{factor.atom.operands()[0], *times};
    }
  return repetition;
}

Value BodyVectorizer::gather(Value memory, Value base, Value indices, Type storage, Value mask, TypedAttr fill) {
  if (!mask)
    mask = arith::ConstantOp::create(builder, location,
                                     DenseElementsAttr::get(vectorOf(builder.getI1Type()), builder.getBoolAttr(true)));
  Type i64 = builder.getI64Type();
  indices = arith::IndexCastOp::create(builder, location, vectorOf(i64), indices);
  return vector::GatherOp::create(builder, location, vectorOf(storage), memory, ValueRange{base}, indices, mask,
                                  getFill(vectorOf(storage), fill));
}

/// The loaded value if a scalar condition holds or is null, else the fill.
Value BodyVectorizer::loadIf(Value condition, Type type, TypedAttr fill, function_ref<Value()> load) {
  if (!condition)
    return load();
  auto branch = scf::IfOp::create(builder, location, TypeRange{type}, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, location, load());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, location, getFill(type, fill));
  return branch.getResult(0);
}

Value BodyVectorizer::loadAt(Expr linear, Value memory, Type storage, Value mask, TypedAttr fill) {
  std::optional<Expr> stride = getLaneStride(linear);
  bool uniform = stride && stride->isConstant(0);
  bool maskIsVector = mask && isa<VectorType>(mask.getType());
  if (uniform && !maskIsVector) {
    Value index = emission.getIndex(linear, points.positions);
    return loadIf(mask, storage, fill,
                  [&]() -> Value { return memref::LoadOp::create(builder, location, memory, index); });
  }
  Value isInside = maskIsVector ? Value() : mask;
  mask = combine(mask, points.mask);
  if (mask)
    mask = spread(mask);
  VectorType type = vectorOf(storage);
  if (stride && stride->isConstant(1)) {
    Value index = emission.getIndex(linear, points.positions);
    // Without any lane, a masked load of pages that are not mapped takes hundreds of cycles.
    if (isInside)
      index = arith::SelectOp::create(builder, location, isInside, index, emission.getConstant(0));
    if (!mask)
      return vector::LoadOp::create(builder, location, type, memory, index);
    return vector::MaskedLoadOp::create(builder, location, type, memory, index, mask, getFill(type, fill));
  }
  // Backwards: the vector that ends here, reversed.
  if (stride && stride->isConstant(-1) && points.lanes > 1) {
    SmallVector<int64_t> order(llvm::reverse(llvm::seq<int64_t>(points.lanes)));
    auto reverse = [&](Value lanes) -> Value {
      return vector::ShuffleOp::create(builder, location, lanes, lanes, order);
    };
    Value first = emission.getIndex(linear - (int64_t(points.lanes) - 1), points.positions);
    if (!mask)
      return reverse(vector::LoadOp::create(builder, location, type, memory, first));
    return reverse(
        vector::MaskedLoadOp::create(builder, location, type, memory, first, reverse(mask), getFill(type, fill)));
  }
  if (int64_t apart = stride ? stride->asConstant().value_or(0) : 0;
      apart >= 2 && apart <= tile::mostInterleaved && points.lanes > 1)
    return loadEvery(apart, memory, emission.getIndex(linear, points.positions), storage, mask, fill);
  if (!stride && !fill)
    if (std::optional<Repetition> repetition = getRepetition(linear, points.lane)) {
      Expr phase = Expr::mod(repetition->number, repetition->times);
      return loadRepeated(memory, linear, repetition->times, emission.getIndex(phase, points.positions), storage);
    }
  if (!stride)
    return gather(memory, emission.getConstant(0), getIndexLanes(linear), storage, mask, fill);
  Value numbers = vector::StepOp::create(builder, location, vectorOf(builder.getIndexType()));
  Value step = spread(emission.getIndex(*stride, points.positions));
  return gather(memory, emission.getIndex(linear, points.positions),
                arith::MulIOp::create(builder, location, numbers, step), storage, mask, fill);
}

/// Loads one vector of contiguous elements and repeats each for `times` lanes: faster than a gather. Lane 0 is the
/// `phase`-th lane of its element. Active lanes come first, so an element is needed iff its first lane is active.
Value BodyVectorizer::loadRepeated(Value memory, Expr linear, int64_t times, Value phase, Type storage) {
  VectorType type = vectorOf(storage), maskType = vectorOf(builder.getI1Type());
  int64_t lanes = points.lanes;
  Value none = arith::ConstantOp::create(builder, location, maskType, builder.getZeroAttr(maskType));
  auto select = [&](llvm::function_ref<Value(int64_t)> make) {
    Value chosen = make(0);
    for (int64_t number = 1; number < times; ++number) {
      Value isHere =
          arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, phase, emission.getConstant(number));
      chosen = arith::SelectOp::create(builder, location, isHere, make(number), chosen);
    }
    return chosen;
  };
  Value used = select([&](int64_t number) -> Value {
    SmallVector<int64_t> firstLanes;
    for (int64_t element = 0; element < lanes; ++element)
      firstLanes.push_back(std::min(lanes, std::max<int64_t>(0, element * times - number)));
    if (points.mask)
      return vector::ShuffleOp::create(builder, location, points.mask, none, firstLanes);
    SmallVector<bool> isUsed = llvm::map_to_vector(firstLanes, [&](int64_t lane) { return lane < lanes; });
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(maskType, ArrayRef<bool>(isUsed)));
  });
  Value elements = vector::MaskedLoadOp::create(builder, location, type, memory,
                                                emission.getIndex(linear, points.positions), used, getFill(type, {}));
  return select([&](int64_t number) -> Value {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back((number + lane) / times);
    return vector::ShuffleOp::create(builder, location, elements, elements, order);
  });
}

/// A strided load as `stride` contiguous loads and shuffles that deinterleave them: faster than a gather. The last
/// vector ends with the last used element, so that nothing after it is read.
Value BodyVectorizer::loadEvery(int64_t stride, Value memory, Value index, Type storage, Value mask, TypedAttr fill) {
  VectorType type = vectorOf(storage), maskType = vectorOf(builder.getI1Type());
  int64_t lanes = points.lanes;
  Value loaded;
  for (int64_t number = 0; number < stride; ++number) {
    int64_t start = number + 1 < stride ? number * lanes : (lanes - 1) * (stride - 1);
    Value at = emission.add(index, emission.getConstant(start)), vector;
    if (!mask) {
      vector = vector::LoadOp::create(builder, location, type, memory, at);
    } else {
      SmallVector<int64_t> used;
      for (int64_t element = start; element < start + lanes; ++element)
        used.push_back(element % stride == 0 ? element / stride : lanes);
      Value none = arith::ConstantOp::create(builder, location, maskType, builder.getZeroAttr(maskType));
      Value some = vector::ShuffleOp::create(builder, location, mask, none, used);
      vector = vector::MaskedLoadOp::create(builder, location, type, memory, at, some, getFill(type, fill));
    }
    if (!loaded) {
      loaded = vector;
      continue;
    }
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = lane * stride;
      // Elements of later vectors are placeholders until their shuffle.
      if (element / lanes == number)
        order.push_back(lanes + element - start);
      else
        order.push_back(number == 1 && element < lanes ? element : lane);
    }
    loaded = vector::ShuffleOp::create(builder, location, loaded, vector, order);
  }
  return loaded;
}

Value BodyVectorizer::load(unsigned input) {
  graph::TensorType type = compute.getInputType(input);
  SmallVector<Expr> indices = tile::getIndices(compute, input, points.loops);
  TypedAttr fill = compute.getFill(input);
  if (facts.outside.contains(input))
    return toScalarType(getFill(tile::getStorageType(type.getElementType()), fill), type.getElementType());
  Value inside = fill ? getInside(input, indices) : Value();
  Value memory = emission.getBuffer(compute.getInputs()[input]);
  Value value = loadAt(getLinear(type, indices), memory, tile::getStorageType(type.getElementType()), inside, fill);
  return toScalarType(value, type.getElementType());
}

/// Lane 0's value of an index with stride 1 over the lanes: a loop position plus a shared value. Null for other
/// indices.
Value BodyVectorizer::getRunBegin(Value index) {
  Operation *op = index.getDefiningOp();
  if (points.lanes == 1 || !op)
    return {};
  if (auto position = dyn_cast<tile::IndexOp>(op)) {
    Expr loop = points.loops[position.getLoop()];
    std::optional<Expr> stride = getLaneStride(loop);
    return stride && stride->isConstant(1) ? emission.getIndex(loop, points.positions) : Value();
  }
  if (Value decided = getDecided(op))
    return getRunBegin(decided);
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return {};
  for (unsigned operand = 0; operand < (isa<arith::AddIOp>(op) ? 2 : 1); ++operand) {
    Value begin = getRunBegin(op->getOperand(operand)), other = begin ? get(op->getOperand(1 - operand)) : Value();
    if (!begin || isa<VectorType>(other.getType()))
      continue;
    return isa<arith::AddIOp>(op) ? emission.add(begin, other) : emission.subtract(begin, other);
  }
  return {};
}

/// A contiguous load: the last index begins with `begin` in lane 0, and all lanes share the other indices.
Value BodyVectorizer::readRun(tile::ReadOp op, Value begin, graph::TensorType type, Value memory) {
  Value linear = emission.getConstant(0);
  for (auto [operand, extent] : llvm::zip_equal(op.getIndices().drop_back(), type.getShape().drop_back()))
    linear = emission.add(emission.multiply(linear, emission.getSize(extent)), get(operand));
  linear = emission.add(emission.multiply(linear, emission.getSize(type.getShape().back())), begin);
  VectorType storage = vectorOf(tile::getStorageType(type.getElementType()));
  Value inside = getInside(op, type), mask = points.mask;
  if (inside && isa<VectorType>(inside.getType())) {
    mask = combine(mask, inside);
    inside = {};
  }
  Value value = loadIf(inside, storage, {}, [&]() -> Value {
    if (!mask)
      return vector::LoadOp::create(builder, location, storage, memory, linear);
    return vector::MaskedLoadOp::create(builder, location, storage, memory, linear, mask, getFill(storage, {}));
  });
  return toScalarType(value, type.getElementType());
}

Value BodyVectorizer::read(tile::ReadOp op) {
  unsigned number = op.getReadNumber();
  Value tensor = compute.getReads()[number], memory = emission.getBuffer(tensor);
  auto type = cast<graph::TensorType>(tensor.getType());
  auto isScalar = [&](Value index) { return !isa<VectorType>(get(index).getType()); };
  if (Value begin = type.getRank() ? getRunBegin(op.getIndices().back()) : Value();
      begin && llvm::all_of(op.getIndices().drop_back(), isScalar))
    return readRun(op, begin, type, memory);
  Type storage = tile::getStorageType(type.getElementType());
  Value linear = emission.getConstant(0);
  for (auto [operand, extent] : llvm::zip_equal(op.getIndices(), type.getShape())) {
    Value index = get(operand), size = emission.getSize(extent);
    if (isa<VectorType>(linear.getType()) || isa<VectorType>(index.getType())) {
      linear = spread(linear);
      index = spread(index);
      size = spread(size);
    }
    linear = emission.add(emission.multiply(linear, size), index);
  }
  Value inside = getInside(op, type);
  if (!isa<VectorType>(linear.getType())) {
    Value value = loadIf(inside, storage, {},
                         [&]() -> Value { return memref::LoadOp::create(builder, location, memory, linear); });
    return toScalarType(value, type.getElementType());
  }
  auto gatherAt = [&](Value places) {
    return gather(memory, emission.getConstant(0), places, storage, points.mask, {});
  };
  if (!inside || !isa<VectorType>(inside.getType()))
    return toScalarType(loadIf(inside, vectorOf(storage), {}, [&] { return gatherAt(linear); }), type.getElementType());
  // Without hardware support a masked gather is a branch per lane. Out-of-bounds lanes therefore read the first
  // element, if there is one.
  Value zero = emission.getConstant(0), some;
  Expr elements = type.getNumElements();
  if (std::optional<int64_t> count = elements.asConstant(); !count || *count == 0)
    some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, emission.getSize(elements), zero);
  Value places = arith::SelectOp::create(builder, location, inside, linear, spread(zero));
  Value gathered = loadIf(some, vectorOf(storage), {}, [&] { return gatherAt(places); });
  Value value = arith::SelectOp::create(builder, location, inside, gathered, getFill(vectorOf(storage), {}));
  return toScalarType(value, type.getElementType());
}
