#include "compiler/step/GraphUpdate.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::LogicalResult;
using mlir::Value;

namespace {

constexpr StringRef statePrefix = "state/";

/// Whether the graph is elementwise on tensors of this shape, so that it is valid for any other shape as well.
bool isElementwise(mlir::func::FuncOp function, ArrayRef<sym::Expr> shape) {
  auto fits = [&](Value value) {
    auto type = cast<graph::TensorType>(value.getType());
    return type.getRank() == 0 || type.getShape() == shape;
  };
  return all_of(function.getArguments(), fits) &&
         all_of(function.getBody().front().without_terminator(), [&](mlir::Operation &op) {
           if (!all_of(op.getOperands(), fits) || !all_of(op.getResults(), fits))
             return false;
           if (auto constant = dyn_cast<graph::ConstantOp>(op))
             return cast<mlir::ElementsAttr>(constant.getValue()).isSplat();
           return isa<graph::BroadcastOp, graph::UnaryOp, graph::BinaryOp, graph::CompareOp, graph::SelectOp,
                      graph::CastOp>(op);
         });
}

/// A copy with tensors of this shape in place of the one-dimensional ones.
mlir::func::FuncOp reshaped(mlir::func::FuncOp function, ArrayRef<sym::Expr> shape) {
  mlir::func::FuncOp copy = function.clone();
  auto change = [&](Value value) {
    auto type = cast<graph::TensorType>(value.getType());
    value.setType(type.getRank() == 1 ? type.withShape(shape) : type);
  };
  mlir::Block &body = copy.getBody().front();
  for_each(body.getArguments(), change);
  for (mlir::Operation &op : body)
    for_each(op.getResults(), change);
  copy.setType(
      mlir::FunctionType::get(copy.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  return copy;
}

bool isFloat(Tensor tensor) { return isa<mlir::FloatType>(tensor.elementType()); }

} // namespace

bool GraphUpdate::isOfStep(StringRef input) {
  return input == "parameter" || input == "gradient" || input == "learning_rate" || input == "step" ||
         input.starts_with(statePrefix);
}

/// Whether the graph takes the parameter flat or in its own shape; the latter where both are valid, since it keeps
/// layouts.
LogicalResult GraphUpdate::chooseShape(Tensor value) {
  GraphInlining declared(graph, function);
  graph::TensorType type = declared.getInputType(*declared.findInput("parameter"));
  int64_t rank = type.getRank();
  if (rank == value.rank())
    return success();
  if (rank != 1)
    return fail("it takes parameters of rank " + Twine(rank) + ", and this one has rank " + Twine(value.rank()) +
                "; declare one dimension to take every parameter flat, or leave this one as it is with --freeze");
  isFlat = !isElementwise(graph, type.getShape());
  if (!isFlat) {
    inShape = reshaped(graph, value.shape());
    graph = *inShape;
  }
  return success();
}

Tensor GraphUpdate::place(Tensor tensor) { return isFlat ? reshape(tensor, {tensor.type().getNumElements()}) : tensor; }

/// A scalar of the step by its name; null for other inputs.
Tensor GraphUpdate::findScalar(StringRef input, const Numbers &numbers, const grad::StepValues &step) {
  if (input == "learning_rate")
    return Tensor(function.builder(), step.learningRate);
  if (input == "step")
    return Tensor(function.builder(), step.step);
  auto number = numbers.find(input.str());
  if (number == numbers.end())
    return {};
  return input == "weight_decay" && !parameter.decays ? splatLike(0, number->second) : number->second;
}

/// Sets all inputs but the parameter and its gradient; tensors without another source are states.
LogicalResult GraphUpdate::setInputs(GraphInlining &inlining, const Numbers &numbers, const grad::StepValues &step) {
  std::string why;
  for (unsigned index = 0; index < inlining.getInputCount(); ++index) {
    StringRef name = inlining.getInputName(index);
    if (inlining.isSet(index))
      continue;
    graph::TensorType type = inlining.getFinalType(index);
    Tensor input = findScalar(name, numbers, step);
    if (input && !type.getNumElements().isConstant(1))
      return fail("its input '" + name + "' must have one element");
    if (input) {
      input = reshape(cast(input, type.getElementType()), type.getShape());
    } else {
      if (!type.getStaticShape())
        return fail("the shape of its input '" + name + "' does not follow from that of the parameter");
      std::string state = name.drop_front(statePrefix.size()).str();
      input = function.addState("optimizer/" + state + "/" + parameter.name, type);
      states.push_back({std::move(state), input});
    }
    if (failed(inlining.setInput(index, input, why)))
      return fail(why);
  }
  return success();
}

/// The new value of a parameter or a state; a skipped step keeps the old value bit for bit.
FailureOr<Tensor> GraphUpdate::takeOutput(GraphInlining &inlining, const std::string &name, Tensor before, Value skip) {
  Tensor after = inlining.findOutput(name);
  if (!after)
    return fail("it has no output '" + name + "'");
  if (after.shape() != before.shape() || isFloat(after) != isFloat(before))
    return fail("its output '" + name + "' is of another shape or type than what it replaces");
  return select(Tensor(function.builder(), skip), before, cast(after, before.elementType()));
}

LogicalResult GraphUpdate::build(const Numbers &numbers, Tensor value, Tensor gradient, const grad::StepValues &step) {
  if (failed(chooseShape(value)))
    return failure();
  GraphInlining inlining(graph, function);
  std::string why;
  if (failed(inlining.setInput(*inlining.findInput("parameter"), place(value), why)) ||
      failed(inlining.setInput(*inlining.findInput("gradient"), place(gradient), why)))
    return fail(why);
  if (failed(setInputs(inlining, numbers, step)))
    return failure();
  if (failed(inlining.inlineBody(why)))
    return fail(why);

  FailureOr<Tensor> updated = takeOutput(inlining, "parameter_new", place(value), step.skip);
  if (failed(updated))
    return failure();
  function.updateState(parameter.name, isFlat ? reshape(*updated, value.shape()) : *updated);
  for (const State &state : states) {
    FailureOr<Tensor> next = takeOutput(inlining, "state/" + state.name + "_new", state.before, step.skip);
    if (failed(next))
      return failure();
    function.updateState("optimizer/" + state.name + "/" + parameter.name, *next);
  }
  if (inlining.getOutputs().size() != states.size() + 1)
    return fail("it has other outputs than 'parameter_new' and a 'state/NAME_new' for each state");
  return success();
}
