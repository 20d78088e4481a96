#include "compiler/grad/GrowingStates.h"

#include "compiler/dialect/sym/SymbolicRange.h"
#include "compiler/grad/BoundIterations.h"
#include "compiler/grad/Rule.h"
#include "compiler/grad/ScanStates.h"

using namespace mlir;
using namespace freestone::expressions;

namespace freestone::grad {

bool isGrowing(graph::WhileOp op) { return op.getTrip().has_value(); }

bool keepsGrowingStates(graph::WhileOp op) { return op->hasAttr(keepsStatesAttr); }

namespace {

/// Where a value that an iteration began with lies within the last one: from `before` elements for each iteration that
/// followed on, along `axis`; everywhere with no axis.
struct Place {
  int64_t axis = -1;
  Expr before;
};

} // namespace

/// The place of a carried value within what the body makes of it by putting other values before and behind it.
static std::optional<Place> findPlace(Value made, Value carried) {
  if (made == carried)
    return Place{};
  auto concat = made.getDefiningOp<graph::ConcatOp>();
  if (!concat)
    return std::nullopt;
  int64_t axis = concat.getAxis();
  Expr before = Expr::constant(made.getContext(), 0);
  for (Value operand : concat.getOperands()) {
    std::optional<Place> inner = findPlace(operand, carried);
    if (inner && (inner->axis < 0 || inner->axis == axis))
      return Place{axis, inner->before ? before + inner->before : before};
    before = before + graph::getShape(operand)[axis];
  }
  return std::nullopt;
}

static bool uses(Expr size, Expr symbol) {
  llvm::SetVector<StringAttr> symbols;
  size.collectSymbols(symbols);
  return symbols.contains(StringAttr::get(size.context(), *symbol.asSymbol()));
}

/// The same within the last value of the loop; nothing where it must be collected.
static std::optional<Place> findPlace(graph::WhileOp op, unsigned index) {
  Value made = op.getBody().front().getTerminator()->getOperand(1 + index);
  std::optional<Place> place = findPlace(made, op.getCarriedArgs()[index]);
  return place && place->before && uses(place->before, op.getTrip()->getExpr()) ? std::nullopt : place;
}

/// What the loop collects of each iteration for its gradient.
static SmallVector<Value> getKept(graph::WhileOp op) {
  SmallVector<Value> kept;
  for (auto [index, argument] : llvm::enumerate(op.getCarriedArgs()))
    if (!findPlace(op, index))
      kept.push_back(argument);
  llvm::append_range(kept, getCostly(op.getBody().front()));
  return kept;
}

size_t getNumGiven(graph::WhileOp op) { return op->getNumResults() - getKept(op).size(); }

/// Sizes that no iteration exceeds.
static Shape getCapacity(graph::WhileOp op, ArrayRef<Expr> shape) {
  Expr zero = Expr::constant(op.getContext(), 0), last = Expr::max(*op.getLimit() - 1, zero);
  StringRef trip = *op.getTrip()->getExpr().asSymbol();
  return Shape(llvm::map_range(shape, [&](Expr size) {
    return sym::findRange(size,
                          [&](StringRef name) {
                            return name == trip ? std::optional(sym::SymbolicRange{zero, last}) : std::nullopt;
                          })
        .greatest;
  }));
}

/// The value as the loop collects it, at the end of the body.
static Tensor fill(GraphBuilder &builder, graph::WhileOp op, Value value) {
  Tensor x(builder, value);
  Shape low(x.rank(), builder.size(0)), high;
  for (auto [capacity, size] : llvm::zip_equal(getCapacity(op, x.shape()), x.shape()))
    high.push_back(capacity - size);
  return pad(x, low, high, 0.0);
}

/// Whether data determine sizes of what the loop carries or collects.
static bool dependsOnData(graph::WhileOp op) {
  Block &body = op.getBody().front();
  Expr trip = op.getTrip()->getExpr(), zero = Expr::constant(op.getContext(), 0);
  ValueRange next = ValueRange(body.getTerminator()->getOperands()).slice(1, op.getCarried().size());
  for (auto [first, argument, later, last] : llvm::zip(op.getCarried(), op.getCarriedArgs(), next, op.getResults())) {
    Type type = argument.getType();
    if (first.getType() != op.getTypeAt(type, zero) || later.getType() != op.getTypeAt(type, trip + 1) ||
        last.getType() != op.getTypeAt(type, op.getTrips()->getExpr()))
      return true;
  }
  for (auto [collected, result] :
       llvm::zip_equal(body.getTerminator()->getOperands().drop_front(1 + op.getCarried().size()),
                       op.getResults().drop_front(op.getCarried().size())))
    if (graph::getShape(collected) != graph::getShape(result).drop_front())
      return true;
  return false;
}

FailureOr<graph::WhileOp> keepGrowingStates(graph::WhileOp op) {
  if (!op.getLimit())
    return refuseGradient(op, withoutLimit);
  if (dependsOnData(op))
    return refuseGradient(op, withDataSizes);
  Operation *yield = op.getBody().front().getTerminator();
  GraphBuilder inside(op.getLoc(), yield);
  SmallVector<Type> results(op->getResultTypes());
  SmallVector<Value> values(yield->getOperands());
  for (Value value : getKept(op)) {
    Tensor kept = fill(inside, op, value);
    Shape shape = {op.getTrips()->getExpr()};
    llvm::append_range(shape, kept.shape());
    results.push_back(graph::TensorType::get(shape, kept.elementType()));
    values.push_back(kept.value());
  }
  yield->setOperands(values);
  OpBuilder builder(op);
  auto keeping = graph::WhileOp::create(builder, op.getLoc(), results, op.getMaxTrip(), op.getCondition(),
                                        op.getCarried(), op.getTripAttr(), op.getTripsAttr());
  keeping->setAttr(keepsStatesAttr, builder.getUnitAttr());
  keeping.getBody().takeBody(op.getBody());
  return keeping;
}

SmallVector<Tensor> restoreIteration(GraphBuilder &builder, graph::WhileOp op, Expr trip) {
  auto partOf = [&](Value whole, ArrayRef<Expr> starts, ArrayRef<Expr> sizes) {
    return slice(Tensor(builder, whole), starts, sizes, SmallVector<int64_t>(sizes.size(), 1));
  };
  auto shapeOf = [&](Value value) {
    return Shape(cast<graph::TensorType>(op.getTypeAt(value.getType(), trip)).getShape());
  };
  unsigned next = getNumGiven(op);
  auto takeKept = [&](Value value) {
    Shape shape = shapeOf(value), starts(shape.size() + 1, builder.size(0)), sizes = {builder.size(1)};
    starts[0] = trip;
    llvm::append_range(sizes, shape);
    return reshape(partOf(op.getResult(next++), starts, sizes), shape);
  };
  SmallVector<Tensor> restored;
  for (auto [index, argument] : llvm::enumerate(op.getCarriedArgs())) {
    std::optional<Place> place = findPlace(op, index);
    if (!place) {
      restored.push_back(takeKept(argument));
      continue;
    }
    Shape sizes = shapeOf(argument), starts(sizes.size(), builder.size(0));
    if (place->axis >= 0)
      starts[place->axis] = place->before * (op.getTrips()->getExpr() - trip);
    restored.push_back(partOf(op.getResult(index), starts, sizes));
  }
  for (Value value : getCostly(op.getBody().front()))
    restored.push_back(takeKept(value));
  return restored;
}

} // namespace freestone::grad
