#include "compiler/step/Updates.h"

#include "compiler/step/GraphUpdate.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::LogicalResult;
using mlir::Value;

namespace {

constexpr StringRef rateName = "learning_rate";

/// Whether a number decides which states exist, and is therefore compiled in.
bool isStructural(const grad::NamedNumber &number, const grad::Optimizer &optimizer) {
  return number.name == "momentum" && (optimizer.*number.number).isConstant(0);
}

} // namespace

Tensor Updates::addNumber(std::vector<Hyperparameter> &numbers, StringRef name, double value) {
  numbers.push_back({name.str(), value});
  return function.addInput(name, graph::TensorType::getStatic({}, function.builder().getF64Type()));
}

/// Inputs of the graph without another source are its numbers.
LogicalResult Updates::takeGraphNumbers(std::vector<Hyperparameter> &numbers) {
  GraphInlining graph(choice.graph, function);
  if (!graph.findInput("parameter") || !graph.findInput("gradient"))
    return fail("an optimizer takes 'parameter' and 'gradient'; the inputs of this one are " + graph.describeInputs());
  for (unsigned index = 0; index < graph.getInputCount(); ++index) {
    StringRef name = graph.getInputName(index);
    if (GraphUpdate::isOfStep(name))
      continue;
    graph::TensorType type = graph.getInputType(index);
    if (!type.getNumElements().isConstant(1) || !isa<mlir::FloatType>(type.getElementType()))
      return fail(
          "the optimizer's input '" + name +
          "' is none of parameter, gradient, learning_rate, step and state/NAME, and no single float, which would be a "
          "number; call a tensor that it keeps 'state/" +
          name + "'");
    auto given = choice.numbers.find(name.str());
    if (given == choice.numbers.end())
      return fail("the optimizer takes a number '" + name + "'; give it with --number " + name + "=VALUE");
    base.ofGraph[name.str()] = addNumber(numbers, name, given->second);
  }
  for (const auto &[name, value] : choice.numbers)
    if (!base.ofGraph.contains(name))
      return fail("the optimizer takes no number '" + name + "'; its inputs are " + graph.describeInputs());
  return success();
}

LogicalResult Updates::takeGroup(const GroupChoice &group, std::vector<Hyperparameter> &numbers) {
  Numbers &own = groups.insert({group.pattern, base}).first->second;
  for (const auto &[name, value] : group.numbers) {
    std::string input = name + "/" + group.pattern;
    if (name == rateName) {
      double rate = choice.learningRate.value_or(grad::getDefaultLearningRate(choice.builtIn.kind));
      own.rateFactor = addNumber(numbers, "learning_rate_factor/" + group.pattern, value / rate);
      continue;
    }
    if (choice.graph && own.ofGraph.contains(name)) {
      own.ofGraph[name] = addNumber(numbers, input, value);
      continue;
    }
    SmallVector<grad::NamedNumber> known = grad::getNumbers(choice.builtIn.kind);
    auto found = find_if(known, [&](const grad::NamedNumber &number) { return number.name == name; });
    if (choice.graph || found == known.end())
      return fail("the group '" + group.pattern + "' has a number '" + name + "', which the optimizer does not take");
    own.builtIn.*found->number = addNumber(numbers, input, value).value();
  }
  return success();
}

LogicalResult Updates::takeNumbers(std::vector<Hyperparameter> &numbers) {
  base.builtIn = choice.builtIn;
  if (choice.graph) {
    if (failed(takeGraphNumbers(numbers)))
      return failure();
  } else {
    for (const grad::NamedNumber &number : grad::getNumbers(choice.builtIn.kind)) {
      grad::Number &value = base.builtIn.*number.number;
      if (value.getConstant() && !isStructural(number, base.builtIn))
        value = addNumber(numbers, number.name, *value.getConstant()).value();
    }
  }
  for (const GroupChoice &group : choice.groups)
    if (failed(takeGroup(group, numbers)))
      return failure();
  return success();
}

LogicalResult Updates::build(const Parameter &parameter, Tensor value, Tensor gradient, grad::StepValues values) {
  auto group = groups.find(parameter.group);
  const Numbers &numbers = group == groups.end() ? base : group->second;
  if (numbers.rateFactor)
    values.learningRate = (Tensor(function.builder(), values.learningRate) * numbers.rateFactor).value();
  if (choice.graph)
    return GraphUpdate(choice.graph, parameter, function, error).build(numbers.ofGraph, value, gradient, values);
  buildBuiltIn(parameter, numbers, value, gradient, values);
  return success();
}

void Updates::buildBuiltIn(const Parameter &parameter, const Numbers &numbers, Tensor value, Tensor gradient,
                           const grad::StepValues &values) {
  expressions::GraphBuilder &b = function.builder();
  grad::Optimizer own = numbers.builtIn;
  if (!parameter.decays)
    own.weightDecay = 0.0;
  auto nameOf = [&](const grad::StateTensor &tensor) {
    return "optimizer/" + tensor.name.str() + "/" + parameter.name;
  };
  SmallVector<grad::StateTensor> tensors = grad::getStateTensors(own);
  SmallVector<Value> state;
  for (const grad::StateTensor &tensor : tensors) {
    graph::TensorType type = parameter.type;
    if (choice.moments && tensor.isMoment)
      type = type.withElementType(choice.moments);
    state.push_back(addFilledState(function, weights, nameOf(tensor), type, tensor.initial).value());
  }
  grad::Update update = grad::buildUpdate(b, b.getLoc(), own, value.value(), gradient.value(), state, values);
  function.updateState(parameter.name, Tensor(b, update.parameter));
  for (auto [tensor, next] : zip_equal(tensors, update.state))
    function.updateState(nameOf(tensor), Tensor(b, next));
}
