#include "compiler/import/operators/WhileLoop.h"

#include "compiler/expressions/Scan.h"
#include "compiler/import/operators/CarriedSizes.h"
#include "compiler/import/operators/Regions.h"
#include "compiler/import/operators/ValueForms.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Builds one loop.
class WhileLoop {
public:
  WhileLoop(Node &node, const onnx::GraphProto &body, const LoopForm &form)
      : node(node), body(body), builder(node.builder()), form(form), bound(form.bound) {}

  bool build();

private:
  bool collectCarried();
  std::optional<ValueForm> formOfState(int64_t index);
  std::optional<ValueForm> formOfMade(int64_t index);
  void startSizes();
  bool buildBody();
  std::optional<Values> importBody(Values arguments, Expr trip);
  bool limitIterations();
  Expr freshTrips();
  bool setOutputs();

  Node &node;
  const onnx::GraphProto &body;
  ModelBuilder &builder;
  const LoopForm &form;
  Expr bound;
  SmallVector<mlir::Value> carried;
  /// Of the carried values, of which some are several tensors.
  SmallVector<ValueForm> forms;
  std::optional<CarriedSizes> sizes;
  graph::WhileOp op;
  /// What the body yields.
  SmallVector<mlir::Value> made;
};

} // namespace

bool WhileLoop::collectCarried() {
  for (int64_t index = 2; index < node.inputCount(); ++index) {
    std::optional<ValueForm> form = formOfState(index);
    if (!form)
      return false;
    forms.push_back(*form);
    for (const ModelValue &tensor : flatten(builder, node.value(index), *form))
      carried.push_back(tensor.tensor.value());
    if (builder.stopped())
      return false;
  }
  return true;
}

/// The form of a value. A sequence has room for what the body inserts.
std::optional<ValueForm> WhileLoop::formOfState(int64_t index) {
  std::optional<ValueForm> form = formOfValue(builder, node.value(index));
  if (form && !form->isTensor()) {
    std::optional<ValueForm> made = formOfMade(index);
    form = made ? joinForms(builder, *form, *made) : std::nullopt;
    if (form && !form->stack)
      return node.refuse("what an empty sequence holds is unknown"), std::nullopt;
  }
  // Names are about the places before the loop.
  if (form && form->stack)
    for (OpenSize &open : form->stack->open)
      open.name.clear();
  return form;
}

/// The form of the same value behind the first iteration.
std::optional<ValueForm> WhileLoop::formOfMade(int64_t index) {
  auto probe = graph::WhileOp::create(builder, builder.getLoc(), mlir::TypeRange(), mlir::Value(), mlir::Value(),
                                      mlir::ValueRange(), /*trip=*/nullptr, /*trips=*/nullptr);
  SmallVector<mlir::Type> arguments = {graph::TensorType::get({}, builder.getI64Type())};
  Expr zero = builder.size(0);
  Expr trip = form.readsTrip ? builder.sizeFacts().freshCount("trip", Expr::max(bound - 1, zero)) : zero;
  std::optional<ValueForm> made;
  buildRegion(node, probe.getBody(), arguments, [&](Values values) -> std::optional<Values> {
    for (int64_t other = 2; other < node.inputCount(); ++other)
      values.push_back(node.value(other));
    if (std::optional<Values> results = importBody(values, trip))
      made = formOfValue(builder, (*results)[index - 1]);
    return std::nullopt;
  });
  probe.erase();
  return made;
}

/// The condition, what is carried, and what is collected. `arguments` are the iteration's number and what is carried.
std::optional<Values> WhileLoop::importBody(Values arguments, Expr trip) {
  if (form.readsTrip)
    arguments.front() = builder.integer(trip);
  // Within the body ONNX's condition is true.
  arguments.insert(arguments.begin() + 1, ModelValue(builder.scalar(1, builder.getI1Type())));
  std::optional<Values> results = node.importer().importBody(body, arguments);
  if (results && results->front().tensor)
    results->front() = reshape(results->front().tensor, {});
  return results;
}

void WhileLoop::startSizes() {
  // As many values are collected as there are iterations.
  bool collects = body.output_size() > 1 + static_cast<int>(forms.size());
  sizes.emplace(builder, carried, bound, form.readsTrip || (collects && !bound));
}

/// All values that are collected have one shape. Where their sizes follow from the iteration's number, nothing but a
/// limit ends the loop before they change: it is checked at entry. Returns whether there is such a limit.
bool WhileLoop::limitIterations() {
  if (!form.goesOn || !bound)
    return false;
  std::optional<int64_t> most;
  for (mlir::Value value : ArrayRef(made).drop_front(carried.size() + 1))
    for (Expr size : tensorType(value).getShape())
      if (std::optional<int64_t> same = sizes->iterationsOfSize(size); same && (!most || *same < *most))
        most = same;
  Expr limit = most ? builder.size(*most) : Expr();
  if (!most || *most < 2 || builder.sizeFacts().interval(bound).hi <= *most ||
      !builder.requireAtEntry(Expr::max(bound, limit), limit,
                              "the greater of " + Twine(*most) + " and the iterations, which collect one shape,"))
    return false;
  bound = Expr::min(bound, limit);
  return true;
}

/// Builds the body until its sizes are those of every iteration.
bool WhileLoop::buildBody() {
  startSizes();
  Tensor condition = node.optionalInput(1), limit = form.limit ? reshape(form.limit, {}) : Tensor();
  Tensor most = bound ? builder.integer(bound) : limit;
  Tensor first = condition && !form.runsOut ? reshape(condition, {}) : Tensor();
  // Where there is a bound too, the condition asks for a limit that data determine.
  bool asksLimit = bound && limit;
  if (asksLimit) {
    Tensor begins = limit > builder.scalar(0, limit.elementType());
    first = first ? first & begins : begins;
  }
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
      Values states = {values.front()};
      ArrayRef<ModelValue> rest = ArrayRef(values).drop_front();
      for (const ValueForm &state : forms)
        states.push_back(restore(state, rest));
      std::optional<Values> results = importBody(std::move(states), sizes->trip());
      if (!results)
        return std::nullopt;
      Values tensors = {form.runsOut ? builder.scalar(1, builder.getI1Type()) : results->front()};
      if (asksLimit)
        tensors.front() = tensors.front().tensor & (limit > values.front().tensor + builder.integer(1));
      for (auto [index, value] : enumerate(ArrayRef(*results).drop_front()))
        llvm::append_range(tensors, flatten(builder, value, index < forms.size() ? forms[index] : ValueForm()));
      return builder.stopped() ? std::nullopt : std::optional(tensors);
    });
    if (!outputs)
      return false;
    made = *outputs;
    if (limitIterations()) {
      most = builder.integer(bound);
      startSizes();
      continue;
    }
    outcome = sizes->learn(ArrayRef(made).slice(1, carried.size()));
    if (outcome == CarriedSizes::Outcome::Differs)
      return node.refuse("the rank or the type of what it carries changes from one iteration to the next"), false;
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
    trips = form.runsOut ? builder.sizeFacts().simplify(Expr::max(bound, builder.size(0))) : freshTrips();
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
  Values results;
  for (mlir::Value result : op->getResults())
    results.push_back(builder.fromValue(result));
  ArrayRef<ModelValue> rest = results;
  for (int64_t index = 0; !rest.empty(); ++index)
    node.setOutput(index, restore(index < int64_t(forms.size()) ? forms[index] : ValueForm(), rest));
  return true;
}

bool WhileLoop::build() {
  if (collectCarried() && buildBody() && !(form.isOptional && sizes->hasOthers()) && setOutputs())
    return true;
  if (form.isOptional) {
    if (op)
      op.erase();
    builder.takeRefusal();
  }
  return false;
}

bool buildWhile(Node &node, const onnx::GraphProto &body, const LoopForm &form) {
  return WhileLoop(node, body, form).build();
}

} // namespace freestone::importer
