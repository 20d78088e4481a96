#include "compiler/codegen/cpu/VectorizeBody.h"

#include "compiler/codegen/cpu/RandomBlocks.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

static bool contains(Expr expr, Expr symbol) {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr name) { return symbol.asSymbol() == name.getValue(); });
}

std::optional<Expr> freestone::codegen::getStride(Expr index, Expr symbol) {
  MLIRContext *context = index.context();
  Expr stride = Expr::constant(context, 0);
  for (const sym::Term &term : index.terms()) {
    Expr scale = Expr::constant(context, term.coefficient);
    bool linear = false;
    for (const sym::Factor &factor : term.factors) {
      if (factor.atom == symbol && factor.power == 1) {
        linear = true;
        continue;
      }
      if (contains(factor.atom, symbol))
        return std::nullopt;
      for (unsigned i = 0; i < factor.power; ++i)
        scale = scale * factor.atom;
    }
    if (linear)
      stride = stride + scale;
  }
  return stride;
}

namespace {

/// An index that stays for some lanes, then grows by one: `number` grows by one from lane to lane.
struct Repetition {
  Expr number;
  int64_t times;
};

} // namespace

/// Nothing where the index is none, or so slow that most of a vector would be one element.
static std::optional<Repetition> getRepetition(Expr index, Expr lane) {
  constexpr int64_t mostTimes = 4;
  std::optional<Repetition> repetition;
  for (const sym::Term &term : index.terms())
    for (const sym::Factor &factor : term.factors) {
      if (!contains(factor.atom, lane))
        continue;
      std::optional<int64_t> times;
      if (factor.atom.kind() == sym::Kind::FloorDiv)
        times = factor.atom.operands()[1].asConstant();
      if (repetition || term.coefficient != 1 || term.factors.size() != 1 || factor.power != 1 || !times ||
          *times < 2 || *times > mostTimes)
        return std::nullopt;
      std::optional<Expr> stride = getStride(factor.atom.operands()[0], lane);
      if (!stride || !stride->isConstant(1))
        return std::nullopt;
      repetition = Repetition{factor.atom.operands()[0], *times};
    }
  return repetition;
}

void freestone::codegen::keepWithinPanel(Emission &emission, LanePoints &points, int64_t width) {
  Expr lane = points.lane, panel = emission.getPositionSymbol("panel"), place = emission.getPositionSymbol("place");
  auto split = [&](StringRef symbol) -> std::optional<Expr> {
    return symbol == *lane.asSymbol() ? std::optional(panel * width + place) : std::nullopt;
  };
  for (Expr &loop : points.loops)
    loop = loop.substitute(split);
  Positions positions;
  for (const Position &position : points.positions) {
    if (position.symbol != lane) {
      positions.push_back(position);
      continue;
    }
    Value size = emission.getConstant(width), number = emission.divide(position.value, size);
    positions.push_back({panel, number});
    positions.push_back({place, emission.subtract(position.value, emission.multiply(number, size))});
  }
  points.positions = std::move(positions);
  points.lane = place;
  points.laneEnd = width;
}

BodyVectorizer::BodyVectorizer(Emission &emission, tile::ComputeOp compute, LanePoints points)
    : emission(emission), builder(emission.builder), location(compute.getLoc()), compute(compute),
      points(std::move(points)) {}

Value BodyVectorizer::spread(Value value) {
  if (points.lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, location, vectorOf(value.getType()), value);
}

Value BodyVectorizer::combine(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  if (isa<VectorType>(lhs.getType()) != isa<VectorType>(rhs.getType())) {
    lhs = spread(lhs);
    rhs = spread(rhs);
  }
  return arith::AndIOp::create(builder, location, lhs, rhs);
}

/// 0 where all lanes have the same index.
std::optional<Expr> BodyVectorizer::getLaneStride(Expr index) {
  return points.lane ? getStride(index, points.lane) : Expr::constant(index.context(), 0);
}

Expr BodyVectorizer::getLinear(graph::TensorType type, ArrayRef<Expr> indices) {
  Expr linear = tile::getLinearIndex(type, indices);
  if (!points.laneEnd)
    return linear;
  sym::Bounds bounds(sym::Interval::size());
  bounds.set(*points.lane.asSymbol(), sym::Interval{0, points.laneEnd - 1});
  return bounds.simplify(linear);
}

Value BodyVectorizer::getIndexLanes(Expr index) {
  std::optional<Expr> perLane = getLaneStride(index);
  if (perLane && perLane->isConstant(0))
    return emission.getIndex(index, points.positions);
  Value numbers = vector::StepOp::create(builder, location, vectorOf(builder.getIndexType()));
  if (perLane) {
    Value stride = spread(emission.getIndex(*perLane, points.positions));
    Value base = spread(emission.getIndex(index, points.positions));
    return arith::AddIOp::create(builder, location, base, arith::MulIOp::create(builder, location, numbers, stride));
  }
  Positions positions = points.positions;
  for (Position &position : positions)
    if (position.symbol == points.lane)
      position.value = arith::AddIOp::create(builder, location, spread(position.value), numbers);
  return emission.getIndex(index, positions);
}

/// Whether the coordinates are inside of an operand that has a fill; null where it is known.
Value BodyVectorizer::getInside(unsigned input, ArrayRef<Expr> indices) {
  Value inside;
  SmallVector<Expr> extents = compute.getExtents();
  for (auto [index, at, extent] :
       llvm::zip_equal(tile::getIndices(compute, input), indices, compute.getInputType(input).getShape())) {
    std::optional<unsigned> loop = index.asSymbol() ? tile::asLoop(*index.asSymbol()) : std::nullopt;
    if (loop && extents[*loop] == extent)
      continue;
    inside = combine(inside, isBelow(getIndexLanes(at), extent));
  }
  return inside;
}

/// Whether data lead to an element of the tensor; null where they always do, along loops over its dimensions.
Value BodyVectorizer::getInside(tile::ReadOp op, graph::TensorType type) {
  Value inside;
  SmallVector<Expr> extents = compute.getExtents();
  for (auto [index, extent] : llvm::zip_equal(op.getIndices(), type.getShape())) {
    auto loop = index.getDefiningOp<tile::IndexOp>();
    if (!loop || extents[loop.getLoop()] != extent)
      inside = combine(inside, isBelow(get(index), extent));
  }
  return inside;
}

/// Whether a coordinate is one of a dimension.
Value BodyVectorizer::isBelow(Value coordinate, Expr extent) {
  Value size = emission.getSize(extent);
  if (isa<VectorType>(coordinate.getType()))
    size = spread(size);
  // Unsigned, so that a negative coordinate is a large one.
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, coordinate, size);
}

Value BodyVectorizer::getFill(Type type, TypedAttr fill) {
  Type elementType = getElementTypeOrSelf(type);
  TypedAttr element = fill ? fill : builder.getZeroAttr(elementType);
  // A bool is wider in memory than in a body.
  if (element.getType() != elementType)
    element = builder.getIntegerAttr(elementType, cast<IntegerAttr>(element).getValue().getZExtValue());
  if (auto vectorType = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vectorType, Attribute(element));
  return arith::ConstantOp::create(builder, location, element);
}

/// From what memory holds to what bodies compute with.
Value BodyVectorizer::toScalarType(Value value, Type elementType) {
  if (!elementType.isInteger(1))
    return value;
  Value zero = getFill(value.getType(), {});
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value, zero);
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

/// Where a scalar condition holds, or where there is none, what is loaded; else the fill.
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
  mask = combine(mask, points.mask);
  if (mask)
    mask = spread(mask);
  VectorType type = vectorOf(storage);
  if (stride && stride->isConstant(1)) {
    Value index = emission.getIndex(linear, points.positions);
    if (!mask)
      return vector::LoadOp::create(builder, location, type, memory, index);
    return vector::MaskedLoadOp::create(builder, location, type, memory, index, mask, getFill(type, fill));
  }
  if (stride && stride->isConstant(2) && points.lanes > 1)
    return loadEveryOther(memory, emission.getIndex(linear, points.positions), storage, mask, fill);
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

/// One vector of neighbours, each given to `times` lanes: faster than a gather. Lane 0 is the `phase`-th that has its
/// element. Lanes that are computed come first, so that an element is used where its first lane is.
Value BodyVectorizer::loadRepeated(Value memory, Expr linear, int64_t times, Value phase, Type storage) {
  VectorType type = vectorOf(storage), maskType = vectorOf(builder.getI1Type());
  int64_t lanes = points.lanes;
  Value none = arith::ConstantOp::create(builder, location, maskType, builder.getZeroAttr(maskType));
  auto select = [&](llvm::function_ref<Value(int64_t)> make) {
    Value chosen = make(0);
    for (int64_t number = 1; number < times; ++number) {
      Value isHere = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, phase,
                                           emission.getConstant(number));
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

/// Two vectors that end with the last element that is used, and every other element of them: faster than a gather.
Value BodyVectorizer::loadEveryOther(Value memory, Value index, Type storage, Value mask, TypedAttr fill) {
  VectorType type = vectorOf(storage), maskType = vectorOf(builder.getI1Type());
  int64_t lanes = points.lanes;
  // The second vector begins with the last element of the first one.
  int64_t starts[2] = {0, lanes - 1};
  Value vectors[2];
  for (int half = 0; half < 2; ++half) {
    Value at = emission.add(index, emission.getConstant(starts[half]));
    if (!mask) {
      vectors[half] = vector::LoadOp::create(builder, location, type, memory, at);
      continue;
    }
    SmallVector<int64_t> used;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = starts[half] + lane;
      used.push_back(element % 2 == 0 ? element / 2 : lanes);
    }
    Value none = arith::ConstantOp::create(builder, location, maskType, builder.getZeroAttr(maskType));
    Value some = vector::ShuffleOp::create(builder, location, mask, none, used);
    vectors[half] = vector::MaskedLoadOp::create(builder, location, type, memory, at, some, getFill(type, fill));
  }
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.push_back(2 * lane < lanes ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(builder, location, vectors[0], vectors[1], order);
}

Value BodyVectorizer::load(unsigned input) {
  graph::TensorType type = compute.getInputType(input);
  SmallVector<Expr> indices = tile::getIndices(compute, input, points.loops);
  TypedAttr fill = compute.getFill(input);
  Value inside = fill ? getInside(input, indices) : Value();
  Value memory = emission.getBuffer(compute.getInputs()[input]);
  Value value = loadAt(getLinear(type, indices), memory, tile::getStorageType(type.getElementType()), inside, fill);
  return toScalarType(value, type.getElementType());
}

Value BodyVectorizer::read(tile::ReadOp op) {
  unsigned number = op.getReadNumber();
  Value tensor = compute.getReads()[number], memory = emission.getBuffer(tensor);
  auto type = cast<graph::TensorType>(tensor.getType());
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
  // Without instructions for it, gathering under a mask is a branch for every lane. So lanes that are outside read the
  // first element, if there is one.
  Value zero = emission.getConstant(0), some;
  Expr elements = type.getNumElements();
  if (std::optional<int64_t> count = elements.asConstant(); !count || *count == 0)
    some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, emission.getSize(elements), zero);
  Value places = arith::SelectOp::create(builder, location, inside, linear, spread(zero));
  Value gathered = loadIf(some, vectorOf(storage), {}, [&] { return gatherAt(places); });
  Value value = arith::SelectOp::create(builder, location, inside, gathered, getFill(vectorOf(storage), {}));
  return toScalarType(value, type.getElementType());
}

Value BodyVectorizer::clone(Operation *op) {
  if (auto index = dyn_cast<tile::IndexOp>(op))
    return getIndexLanes(points.loops[index.getLoop()]);
  if (auto size = dyn_cast<tile::SizeOp>(op))
    return emission.getSize(size.getSize().getExpr());
  if (auto readOp = dyn_cast<tile::ReadOp>(op))
    return read(readOp);
  if (auto random = dyn_cast<tile::RandomBitsOp>(op)) {
    auto key = llvm::map_to_vector(random.getKey(), [&](Value word) { return get(word); });
    assert(llvm::none_of(key, [](Value word) { return isa<VectorType>(word.getType()); }) && "one key for all lanes");
    return emitRandomBits(builder, location, key, get(random.getIndex()), random.getType());
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  bool uniform = llvm::none_of(operands, [](Value value) { return isa<VectorType>(value.getType()); });
  Type type = op->getResult(0).getType();
  if (!uniform) {
    for (Value &operand : operands)
      operand = spread(operand);
    type = vectorOf(type);
  }
  OperationState state(op->getLoc(), op->getName(), operands, type);
  state.attributes = op->getDiscardableAttrDictionary();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

Value BodyVectorizer::get(Value value) {
  if (Value lanes = known.lookup(value))
    return lanes;
  Value lanes;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    assert(argument.getArgNumber() < compute.getInputs().size() && "accumulators are set by the emitter");
    lanes = load(argument.getArgNumber());
  } else {
    lanes = clone(value.getDefiningOp());
  }
  known[value] = lanes;
  return lanes;
}

SmallVector<Value> BodyVectorizer::getYielded() {
  for (auto check : compute.getBody()->getOps<tile::CheckOp>()) {
    Value holds = get(check.getCondition());
    if (isa<VectorType>(holds.getType())) {
      if (points.mask) {
        Value all = arith::ConstantOp::create(
            builder, location, DenseElementsAttr::get(vectorOf(builder.getI1Type()), builder.getBoolAttr(true)));
        holds = arith::SelectOp::create(builder, location, points.mask, holds, all);
      }
      holds = vector::ReductionOp::create(builder, location, vector::CombiningKind::AND, holds);
    }
    emission.check(check, holds);
  }
  SmallVector<Value> yielded;
  for (Value value : compute.getBody()->getTerminator()->getOperands())
    yielded.push_back(get(value));
  return yielded;
}

void BodyVectorizer::store(Value value, graph::TensorType type, Value memory) {
  Type storage = tile::getStorageType(type.getElementType());
  Expr linear = getLinear(type, ArrayRef(points.loops).take_front(compute.getNumParallel()));
  if (type.getElementType().isInteger(1)) {
    Type wide = isa<VectorType>(value.getType()) ? vectorOf(storage) : storage;
    value = arith::ExtUIOp::create(builder, location, wide, value);
  }
  if (points.lanes == 1) {
    memref::StoreOp::create(builder, location, value, memory, emission.getIndex(linear, points.positions));
    return;
  }
  value = spread(value);
  if (std::optional<Expr> stride = getLaneStride(linear); stride && stride->isConstant(1)) {
    Value index = emission.getIndex(linear, points.positions);
    if (points.mask)
      vector::MaskedStoreOp::create(builder, location, memory, index, points.mask, value);
    else
      vector::StoreOp::create(builder, location, value, memory, index);
    return;
  }
  Value mask = points.mask;
  if (!mask)
    mask = arith::ConstantOp::create(builder, location,
                                     DenseElementsAttr::get(vectorOf(builder.getI1Type()), builder.getBoolAttr(true)));
  Value indices = arith::IndexCastOp::create(builder, location, vectorOf(builder.getI64Type()), getIndexLanes(linear));
  vector::ScatterOp::create(builder, location, /*resultType=*/Type(), memory, ValueRange{emission.getConstant(0)},
                            indices, mask, value);
}
