#include "compiler/import/operators/WhileLoop.h"

#include "compiler/expressions/Scan.h"
#include "compiler/import/operators/CarriedSizes.h"
#include "compiler/import/operators/Regions.h"
#include "compiler/import/operators/StackedSequences.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Builds one loop.
class WhileLoop {
public:
  WhileLoop(Node &node, const onnx::GraphProto &body, Expr bound, bool runsOut, bool readsTrip)
      : node(node), body(body), builder(node.builder()), bound(bound), runsOut(runsOut), readsTrip(readsTrip) {}

  bool build(bool isOptional);

private:
  bool collectCarried();
  Tensor stackFirst(int64_t index);
  bool buildBody();
  std::optional<Values> importBody(Values arguments, Expr trip);
  Expr freshTrips();
  bool setOutputs();

  Node &node;
  const onnx::GraphProto &body;
  ModelBuilder &builder;
  Expr bound;
  bool runsOut, readsTrip;
  SmallVector<mlir::Value> carried;
  /// Whether a carried value is a sequence.
  SmallVector<bool> isSequence;
  std::optional<CarriedSizes> sizes;
  graph::WhileOp op;
  /// What the body yields.
  SmallVector<mlir::Value> made;
};

} // namespace

bool WhileLoop::collectCarried() {
  for (int64_t index = 2; index < node.inputCount(); ++index) {
    isSequence.push_back(node.value(index).kind == ModelValue::Kind::Sequence);
    Tensor state = isSequence.back() ? stackFirst(index) : node.input(index);
    if (!state)
      return false;
    carried.push_back(state.value());
  }
  return true;
}

/// The stack of a sequence before the loop. The shape of an empty one's elements is that of what the body inserts.
Tensor WhileLoop::stackFirst(int64_t index) {
  const ModelValue &sequence = node.value(index);
  if (sequence.isStacked() || !sequence.elements.empty())
    return stackOf(node, sequence);
  auto probe = graph::WhileOp::create(builder, builder.getLoc(), mlir::TypeRange(), mlir::Value(), mlir::Value(),
                                      mlir::ValueRange(), /*trip=*/nullptr, /*trips=*/nullptr);
  Tensor inserted;
  SmallVector<mlir::Type> arguments = {graph::TensorType::get({}, builder.getI64Type())};
  buildRegion(node, probe.getBody(), arguments, [&](Values values) -> std::optional<Values> {
    for (int64_t other = 2; other < node.inputCount(); ++other)
      values.push_back(node.value(other));
    std::optional<Values> results = importBody(values, builder.size(0));
    if (results)
      inserted = elementOf(node, (*results)[index - 1]);
    return std::nullopt;
  });
  Shape shape = {builder.size(0)};
  if (inserted)
    llvm::append_range(shape, inserted.shape());
  probe.erase();
  if (llvm::any_of(shape, [&](Expr size) { return builder.sizeFacts().dependsOnData(size); }))
    return node.refuse("it carries a sequence of tensors whose sizes depend on data");
  return inserted ? builder.splat(0, inserted.elementType(), shape) : Tensor();
}

/// The condition, what is carried, and what is collected. `arguments` are the iteration's number and what is carried.
std::optional<Values> WhileLoop::importBody(Values arguments, Expr trip) {
  if (readsTrip)
    arguments.front() = builder.integer(trip);
  // Within the body ONNX's condition is true.
  arguments.insert(arguments.begin() + 1, ModelValue(builder.scalar(1, builder.getI1Type())));
  std::optional<Values> results = node.importer().importBody(body, arguments);
  if (results && results->front().tensor)
    results->front() = reshape(results->front().tensor, {});
  return results;
}

/// Builds the body until its sizes are those of every iteration.
bool WhileLoop::buildBody() {
  Tensor limit = node.optionalInput(0), condition = node.optionalInput(1);
  Tensor most = bound ? builder.integer(bound) : limit && !limit.content() ? reshape(limit, {}) : Tensor();
  Tensor first = condition && !runsOut ? reshape(condition, {}) : Tensor();
  if (builder.stopped())
    return false;
  auto valueOf = [](Tensor tensor) { return tensor ? tensor.value() : mlir::Value(); };
  for (auto outcome = CarriedSizes::Outcome::Again; outcome == CarriedSizes::Outcome::Again;) {
    if (op)
      op.erase();
    op = graph::WhileOp::create(builder, builder.getLoc(), mlir::TypeRange(), valueOf(most), valueOf(first), carried,
                                /*trip=*/nullptr, /*trips=*/nullptr);
    SmallVector<mlir::Type> arguments = {graph::TensorType::get({}, builder.getI64Type())};
    llvm::append_range(arguments, sizes->types());
    sizes->beginBody();
    auto outputs = buildRegion(node, op.getBody(), arguments, [&](Values values) -> std::optional<Values> {
      for (auto [value, isStacked] : zip_equal(MutableArrayRef(values).drop_front(), isSequence))
        if (isStacked)
          value = ModelValue::stacked(value.tensor);
      std::optional<Values> results = importBody(std::move(values), sizes->trip());
      if (results)
        for (auto [value, isStacked] : zip(MutableArrayRef(*results).drop_front(), isSequence))
          if (isStacked)
            value = stackOf(node, value);
      return results;
    });
    if (!outputs)
      return false;
    made = *outputs;
    outcome = sizes->learn(ArrayRef(made).slice(1, carried.size()));
    if (outcome == CarriedSizes::Outcome::Differs)
      return node.refuse("the rank or the type of what it carries changes from one iteration to the next"), false;
    if (sizes->trip() && !bound)
      return node.refuse("what it carries grows without a limit; give the loop one that is a constant or a size "
                         "(--max-trip)"),
             false;
  }
  return true;
}

/// A symbol for the number of iterations.
Expr WhileLoop::freshTrips() {
  SizeFacts &facts = builder.sizeFacts();
  int64_t highest = bound ? facts.interval(bound).hi : sym::Interval::plusInfinity;
  return facts.fresh("trips", SymbolOrigin::Data, {0, highest});
}

bool WhileLoop::setOutputs() {
  Expr trips;
  if (sizes->trip()) {
    trips = runsOut ? builder.sizeFacts().simplify(Expr::max(bound, builder.size(0))) : freshTrips();
    op.setTripAttr(sizes->trip().attr());
    op.setTripsAttr(trips.attr());
  }
  SmallVector<mlir::Type> types = sizes->lastTypes(trips);
  for (mlir::Value value : ArrayRef(made).drop_front(carried.size() + 1)) {
    if (sizes->isOfBody(value.getType()))
      return node.refuse("it collects values whose shape changes from one iteration to the next"), false;
    Shape shape = {trips ? trips : freshTrips()};
    llvm::append_range(shape, tensorType(value).getShape());
    types.push_back(tensorType(value).withShape(shape));
  }
  op = withResults(builder, op, types);
  for (auto [index, result] : enumerate(op->getResults())) {
    Tensor tensor = builder.fromValue(result);
    bool isStacked = index < isSequence.size() && isSequence[index];
    node.setOutput(index, isStacked ? ModelValue::stacked(tensor) : ModelValue(tensor));
  }
  return true;
}

bool WhileLoop::build(bool isOptional) {
  if (collectCarried()) {
    sizes.emplace(builder, carried, bound, readsTrip);
    if (buildBody() && !(isOptional && sizes->hasOthers()) && setOutputs())
      return true;
  }
  if (isOptional) {
    if (op)
      op.erase();
    builder.takeRefusal();
  }
  return false;
}

bool buildWhile(Node &node, const onnx::GraphProto &body, Expr bound, bool runsOut, bool readsTrip, bool isOptional) {
  return WhileLoop(node, body, bound, runsOut, readsTrip).build(isOptional);
}

} // namespace freestone::importer
