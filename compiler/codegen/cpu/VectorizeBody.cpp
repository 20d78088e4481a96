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

void BodyVectorizer::share(const SharedValues &shared) {
  known.insert(shared.values.begin(), shared.values.end());
  checked.insert(shared.checks.begin(), shared.checks.end());
}

void BodyVectorizer::assume(const tile::ColumnFacts &known) { facts = known; }

/// Whether a condition holds, where the facts decide it.
std::optional<bool> BodyVectorizer::isDecided(Value condition) {
  if (auto known = facts.conditions.find(condition); known != facts.conditions.end())
    return known->second;
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return std::nullopt;
  std::optional<bool> lhs = isDecided(both.getLhs()), rhs = isDecided(both.getRhs());
  if (lhs == false || rhs == false)
    return false;
  return lhs == true && rhs == true ? lhs : std::nullopt;
}

Value BodyVectorizer::getDecided(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> holds = isDecided(select.getCondition());
    return !holds ? Value() : *holds ? select.getTrueValue() : select.getFalseValue();
  }
  if (!isa<arith::AndIOp>(op))
    return {};
  for (unsigned operand = 0; operand < 2; ++operand)
    if (isDecided(op->getOperand(operand)) == true)
      return op->getOperand(1 - operand);
  return {};
}

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

/// The index's stride from lane to lane; 0 if all lanes have the same index.
std::optional<Expr> BodyVectorizer::getLaneStride(Expr index) {
  return points.lane ? tile::getStride(index, points.lane) : Expr::constant(index.context(), 0);
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

/// The index as integers, which count from lane to lane in their own width.
Value BodyVectorizer::getCastLanes(Expr index, Type type) {
  std::optional<Expr> perLane = getLaneStride(index);
  if (!perLane || !perLane->isConstant(1)) {
    Value lanes = getIndexLanes(index);
    return arith::IndexCastOp::create(builder, location, isa<VectorType>(lanes.getType()) ? vectorOf(type) : type,
                                      lanes);
  }
  Value first = arith::IndexCastOp::create(builder, location, type, emission.getIndex(index, points.positions));
  Value numbers = vector::StepOp::create(builder, location, vectorOf(builder.getIndexType()));
  numbers = arith::IndexCastOp::create(builder, location, vectorOf(type), numbers);
  return arith::AddIOp::create(builder, location, spread(first), numbers);
}

/// Whether the coordinates are in bounds of an operand with a fill; null if they always are.
Value BodyVectorizer::getInside(unsigned input, ArrayRef<Expr> indices) {
  Value inside;
  SmallVector<Expr> extents = compute.getExtents();
  for (auto [dim, index, at, extent] :
       llvm::enumerate(tile::getIndices(compute, input), indices, compute.getInputType(input).getShape())) {
    std::optional<unsigned> loop = index.asSymbol() ? tile::asLoop(*index.asSymbol()) : std::nullopt;
    if ((loop && extents[*loop] == extent) || facts.insideDims.contains({input, dim}))
      continue;
    inside = combine(inside, isBelow(getIndexLanes(at), extent));
  }
  return inside;
}

/// Whether data-dependent indices are in bounds; null if they always are, as for loops over the dimensions.
Value BodyVectorizer::getInside(tile::ReadOp op, graph::TensorType type) {
  Value inside;
  SmallVector<Expr> extents = compute.getExtents();
  for (auto [dim, index, extent] : llvm::enumerate(op.getIndices(), type.getShape())) {
    auto loop = index.getDefiningOp<tile::IndexOp>();
    if ((!loop || extents[loop.getLoop()] != extent) && !facts.insideReads.contains({op, dim}))
      inside = combine(inside, isBelow(get(index), extent));
  }
  return inside;
}

/// Whether a coordinate is in bounds of a dimension.
Value BodyVectorizer::isBelow(Value coordinate, Expr extent) {
  Value size = emission.getSize(extent);
  if (isa<VectorType>(coordinate.getType()))
    size = spread(size);
  // Unsigned, so that a negative coordinate compares as a large one.
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

/// Converts from the storage type to the scalar type of bodies.
Value BodyVectorizer::toScalarType(Value value, Type elementType) {
  if (!elementType.isInteger(1))
    return value;
  Value zero = getFill(value.getType(), {});
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value, zero);
}

Value BodyVectorizer::clone(Operation *op) {
  if (std::optional<bool> holds = op->getNumResults() ? isDecided(op->getResult(0)) : std::nullopt)
    return arith::ConstantOp::create(builder, location, builder.getBoolAttr(*holds));
  if (Value decided = getDecided(op))
    return get(decided);
  if (auto index = dyn_cast<tile::IndexOp>(op))
    return getIndexLanes(points.loops[index.getLoop()]);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    if (auto index = cast.getIn().getDefiningOp<tile::IndexOp>())
      return getCastLanes(points.loops[index.getLoop()], cast.getType());
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
    if (checked.contains(check))
      continue;
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
