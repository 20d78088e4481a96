#include "compiler/step/StepBuilder.h"

#include "compiler/grad/MixedPrecision.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::Value;

void step::markStates(mlir::func::FuncOp function, ArrayRef<Parameter> parameters) {
  mlir::Builder builder(function.getContext());
  llvm::StringMap<int64_t> numbers;
  for (const auto &[number, parameter] : enumerate(parameters))
    if (parameter.trained)
      numbers[parameter.name] = number;
  auto mark = [&](mlir::StringAttr state, auto set) {
    if (!state)
      return;
    StringRef name = state;
    bool isAccumulated = name.consume_front(accumulatedPrefix), isGradient = name.consume_front("gradient/");
    if (isGradient || isAccumulated || isOfWholeStep(name))
      set(roleAttr, builder.getStringAttr(isGradient ? gradientRole : isAccumulated ? lossRole : stepRole));
    if (auto number = numbers.find(name); number != numbers.end() && isAccumulated == isGradient)
      set(parameterAttr, builder.getI64IntegerAttr(number->second));
  };
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    mark(function.getArgAttrOfType<mlir::StringAttr>(index, "graph.state"),
         [&](StringRef name, mlir::Attribute value) { function.setArgAttr(index, name, value); });
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    mark(function.getResultAttrOfType<mlir::StringAttr>(index, "graph.state"),
         [&](StringRef name, mlir::Attribute value) { function.setResultAttr(index, name, value); });
}

/// Updates the model's statistics to the pending ones, or these to the old ones.
void StepBuilder::adoptPending(StepFunction &function, Tensor skip) {
  for (const auto &[name, type] : statistics) {
    Tensor old = function.takeWeight(name, type);
    Tensor pending = function.addState((pendingPrefix + name).str(), type, name);
    Tensor adopted = select(skip, old, pending);
    function.updateState(name, adopted);
    function.updateState((pendingPrefix + name).str(), adopted);
  }
}

LogicalResult StepBuilder::buildMicroBatch(mlir::func::FuncOp source) {
  if (failed(requireFreeNames(source)))
    return failure();
  if (choice.precision)
    ports.narrowProducts = grad::lowerPrecision(source, choice.precision);
  StepFunction function(source);
  statistics = function.getUpdatedStates();
  FailureOr<BatchGradients> batch = buildGradients(function);
  if (failed(batch) || failed(takePorts(function, *batch)))
    return failure();
  addAccumulated(function, *batch);
  updateAccumulated(function, *batch);
  lossType = batch->objective.elementType();
  function.finish();
  return success();
}

/// The update from accumulated gradients, after `buildMicroBatch`.
LogicalResult StepBuilder::buildUpdate(mlir::func::FuncOp empty) {
  StepFunction function(empty);
  expressions::GraphBuilder &b = function.builder();
  Updates updates(choice.optimizer, function, weights, error);
  FailureOr<UpdateNumbers> numbers = takeUpdateNumbers(function, updates);
  if (failed(numbers))
    return failure();
  BatchGradients batch;
  for (const Parameter &parameter : parameters) {
    if (!parameter.trained)
      continue;
    batch.trained.push_back(&parameter);
    batch.parameters.push_back(function.takeWeight(parameter.name, parameter.type));
    mlir::Type element = parameter.type.getElementType();
    bool isNarrow = element.isF16() || element.isBF16();
    auto sum = graph::TensorType::get(parameter.type.getShape(), isNarrow ? b.getF32Type() : element);
    batch.gradients.push_back(takeAccumulated(function, "gradient/" + parameter.name, sum));
  }
  auto number = graph::TensorType::getStatic({}, lossType);
  batch.model.loss.sum = takeAccumulated(function, "loss", number).value();
  batch.model.loss.count = takeAccumulated(function, "count", number).value();
  if (choice.scaleLoss)
    batch.scale = takeScalarState(function, "loss_scale", b.getF32Type(), grad::LossScaleOptions().initialScale);
  batch.stepsDone = takeScalarState(function, stepsDoneName, b.getI64Type(), 0);
  if (failed(buildDecidedUpdate(function, updates, *numbers, batch)))
    return failure();
  function.finish();
  return success();
}
