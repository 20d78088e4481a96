#include "compiler/step/StepFunction.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;

StepFunction::StepFunction(mlir::func::FuncOp function)
    : function(function), ir(function.getLoc(), function.getBody().front().getTerminator()) {
  // States that the model itself updates in training (running statistics) stay states.
  mlir::Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto state = function.getResultAttrOfType<mlir::StringAttr>(index, "graph.state"))
      results.push_back({state.str(), true, terminator->getOperand(index)});
  statisticsCount = results.size();
}

Tensor StepFunction::findOutput(StringRef name, std::string &error) {
  mlir::Operation *terminator = function.getBody().front().getTerminator();
  std::string known;
  SmallVector<mlir::Value> found;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto output = function.getResultAttrOfType<mlir::StringAttr>(index, "graph.name");
    if (!output)
      continue;
    known += (known.empty() ? "'" : ", '") + output.str() + "'";
    if (name.empty() || output == name)
      found.push_back(terminator->getOperand(index));
  }
  if (found.size() == 1)
    return Tensor(ir, found.front());
  error = name.empty() ? "the model has several outputs (" + known + "): name the one that the loss takes with --logits"
                       : "the model has no output '" + name.str() + "'; it has " + known;
  return {};
}

Tensor StepFunction::lookupOutput(StringRef name) {
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto output = function.getResultAttrOfType<mlir::StringAttr>(index, "graph.name"); output && output == name)
      return Tensor(ir, function.getBody().front().getTerminator()->getOperand(index));
  return {};
}

Tensor StepFunction::lookupInput(StringRef name) {
  for (mlir::BlockArgument argument : function.getArguments())
    if (auto input = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "graph.name");
        input && input == name)
      return Tensor(ir, argument);
  return {};
}

std::optional<StringRef> StepFunction::findDoubledInput() {
  StringSet<> names;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (auto name = function.getArgAttrOfType<mlir::StringAttr>(index, "graph.name");
        name && !names.insert(name.getValue()).second)
      return name.getValue();
  return std::nullopt;
}

Tensor StepFunction::addArgument(graph::TensorType type, ArrayRef<mlir::NamedAttribute> attributes) {
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, ir.getDictionaryAttr(attributes), ir.getLoc());
  return Tensor(ir, function.getArgument(index));
}

Tensor StepFunction::addInput(StringRef name, graph::TensorType type) {
  return addArgument(type, ir.getNamedAttr("graph.name", ir.getStringAttr(name)));
}

Tensor StepFunction::addState(StringRef name, graph::TensorType type, StringRef initial) {
  SmallVector<mlir::NamedAttribute> attributes = {ir.getNamedAttr("graph.state", ir.getStringAttr(name))};
  if (!initial.empty())
    attributes.push_back(ir.getNamedAttr("graph.initial", ir.getStringAttr(initial)));
  return addArgument(type, attributes);
}

Tensor StepFunction::takeWeight(StringRef name, graph::TensorType type) {
  Tensor state = addState(name, type, name);
  for (auto weight : make_early_inc_range(function.getOps<graph::WeightOp>())) {
    if (weight.getName() != name)
      continue;
    weight.replaceAllUsesWith(state.value());
    weight.erase();
  }
  return state;
}

std::vector<std::pair<std::string, graph::TensorType>> StepFunction::getUpdatedStates() const {
  std::vector<std::pair<std::string, graph::TensorType>> states;
  for (const Result &result : ArrayRef(results).take_front(statisticsCount))
    states.emplace_back(result.name, cast<graph::TensorType>(result.value.getType()));
  return states;
}

mlir::BlockArgument StepFunction::findState(StringRef name) {
  for (mlir::BlockArgument argument : function.getArguments())
    if (auto state = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "graph.state");
        state && state == name)
      return argument;
  llvm_unreachable("there is no such state");
}

void StepFunction::keepStatistics(Tensor skip) {
  for (Result &result : MutableArrayRef(results).take_front(statisticsCount))
    result.value = select(skip, Tensor(ir, findState(result.name)), Tensor(ir, result.value)).value();
}

void StepFunction::renameStatistics(StringRef prefix) {
  for (Result &result : MutableArrayRef(results).take_front(statisticsCount)) {
    unsigned index = findState(result.name).getArgNumber();
    result.name = (prefix + result.name).str();
    function.setArgAttr(index, "graph.state", ir.getStringAttr(result.name));
  }
}

mlir::BlockArgument StepFunction::findRandomKey() {
  for (mlir::BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), "graph.random_key"))
      return argument;
  return {};
}

void StepFunction::provideRandomKey(Tensor seed, Tensor step) {
  mlir::BlockArgument key = findRandomKey();
  mlir::OpBuilder::InsertionGuard guard(ir);
  if (mlir::Operation *op = seed.value().getDefiningOp())
    ir.setInsertionPointAfter(op);
  else
    ir.setInsertionPointToStart(&function.getBody().front());
  mlir::Type word = cast<graph::TensorType>(key.getType()).getElementType();
  auto wordOf = [&](Tensor number) { return reshape(cast(number, word), {ir.size(1)}); };
  Tensor high = binary(graph::BinaryKind::shr, seed, splatLike(32, seed));
  key.replaceAllUsesWith(expressions::concat({wordOf(seed), wordOf(high), wordOf(step)}, 0).value());
  (void)function.eraseArgument(key.getArgNumber());
}

void StepFunction::finish() {
  SmallVector<mlir::Value> values;
  SmallVector<mlir::Type> types;
  SmallVector<mlir::Attribute> attributes;
  for (const Result &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    attributes.push_back(ir.getDictionaryAttr(
        ir.getNamedAttr(result.isState ? "graph.state" : "graph.name", ir.getStringAttr(result.name))));
  }
  mlir::Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(values);
  function.setType(ir.getFunctionType(function.getArgumentTypes(), types));
  function.setResAttrsAttr(ir.getArrayAttr(attributes));
}
