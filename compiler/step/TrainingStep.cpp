#include "compiler/step/StepBuilder.h"

#include "compiler/grad/Differentiate.h"
#include "compiler/grad/MixedPrecision.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::Value;

Tensor StepBuilder::addNumber(StepFunction &function, StringRef name, double value) {
  ports.hyperparameters.push_back({name.str(), value});
  return function.addInput(name, graph::TensorType::getStatic({}, function.builder().getF64Type()));
}

grad::LossScaleOptions StepBuilder::takeScalingNumbers(StepFunction &function) {
  grad::LossScaleOptions scaling;
  scaling.growthFactor = addNumber(function, "growth_factor", *scaling.growthFactor.getConstant()).value();
  scaling.backoffFactor = addNumber(function, "backoff_factor", *scaling.backoffFactor.getConstant()).value();
  scaling.growthInterval = addNumber(function, "growth_interval", *scaling.growthInterval.getConstant()).value();
  return scaling;
}

/// A scalar state shared by the entries, with the first value `initial`.
Tensor StepBuilder::takeScalarState(StepFunction &function, StringRef name, mlir::Type type, double initial) {
  return addFilledState(function, weights, name, graph::TensorType::getStatic({}, type), initial);
}

/// Refuses a model whose inputs or parameters have names of the step's own inputs and states.
LogicalResult StepBuilder::requireFreeNames(mlir::func::FuncOp source) {
  for (unsigned index = 0; index < source.getNumArguments(); ++index) {
    auto name = source.getArgAttrOfType<mlir::StringAttr>(index, "graph.name");
    if (name && takesLabels(choice.loss.kind) && name == choice.loss.labels)
      return fail("the model has an input '" + name.str() +
                  "' itself; name the array of the labels otherwise (--labels)");
  }
  for (const auto &weight : weights.getWeights()) {
    StringRef name = weight->name;
    if (isOfWholeStep(name) || name.starts_with(pendingPrefix) || name.starts_with("optimizer/") ||
        name.starts_with(accumulatedPrefix) || name.starts_with("loss/"))
      return fail("the model has a weight '" + name +
                  "', which is the name of what the training step keeps besides; rename it");
  }
  return success();
}

/// The batches of one step draw different random numbers: each has its own seed, the first the user's.
void StepBuilder::provideRandomKey(StepFunction &function, BatchGradients &batch) {
  if (!function.hasRandomKey())
    return;
  expressions::GraphBuilder &b = function.builder();
  auto number = graph::TensorType::getStatic({}, b.getI64Type());
  Tensor seed = function.addInput("seed", number);
  Tensor batchNumber;
  if (choice.apart)
    batchNumber = function.addInput("micro_batch", number);
  else if (choice.accumulate)
    batchNumber = batch.batches = takeScalarState(function, (accumulatedPrefix + "batches").str(), b.getI64Type(), 0);
  if (batchNumber) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(seed.value().getParentBlock());
    seed = seed + batchNumber * 0x9E3779B97F4A7p0;
  }
  ports.takesSeed = true;
  function.provideRandomKey(seed, batch.stepsDone);
}

FailureOr<BatchGradients> StepBuilder::buildGradients(StepFunction &function) {
  expressions::GraphBuilder &b = function.builder();
  BatchGradients batch;
  FailureOr<ModelLoss> model = buildModelLoss(function, choice.loss, weights, error);
  if (failed(model))
    return failure();
  batch.model = *model;
  batch.objective = choice.apart        ? Tensor(b, model->loss.sum)
                    : choice.accumulate ? Tensor(b, model->loss.sum) / getCounted(b, model->loss)
                                        : Tensor(b, grad::buildMean(b, b.getLoc(), model->loss));
  for (const Parameter &parameter : parameters) {
    if (!parameter.trained)
      continue;
    batch.trained.push_back(&parameter);
    batch.parameters.push_back(function.takeWeight(parameter.name, parameter.type));
  }
  for (const auto &[name, type] : statistics)
    function.takeWeight(name, type);
  if (choice.apart)
    function.renameStatistics(pendingPrefix);
  if (batch.trained.empty())
    return fail("no parameter of the model is trained; choose some with --train 'PATTERN'");
  if (choice.scaleLoss)
    batch.scale = takeScalarState(function, "loss_scale", b.getF32Type(), grad::LossScaleOptions().initialScale);
  batch.stepsDone = takeScalarState(function, stepsDoneName, b.getI64Type(), 0);
  provideRandomKey(function, batch);

  SmallVector<Value> wanted = map_to_vector(batch.parameters, [](Tensor value) { return value.value(); });
  Value seed = batch.scale ? cast(batch.scale, batch.objective.elementType()).value() : Value();
  FailureOr<SmallVector<Value>> gradients = grad::differentiate(batch.objective.value(), wanted, seed);
  if (failed(gradients))
    return failure();
  batch.gradients = map_to_vector(*gradients, [&](Value gradient) { return Tensor(b, gradient); });
  return batch;
}

LogicalResult StepBuilder::takePorts(StepFunction &function, const BatchGradients &batch) {
  if (std::optional<StringRef> name = function.findDoubledInput())
    return fail("the model has an input '" + *name +
                "', which is the name of an input of the training step; rename it");
  ports.classes = batch.model.classes;
  ports.labels = batch.model.labelName;
  return success();
}

/// The index of the first gradient whose sum of squares is not finite, or -1.
static Tensor findCulprit(expressions::GraphBuilder &b, ArrayRef<Value> squares) {
  Tensor culprit = b.integer(-1);
  for (size_t number = squares.size(); number-- > 0;) {
    Tensor isFinite = Tensor(b, squares[number]) < std::numeric_limits<double>::infinity();
    culprit = select(isFinite, culprit, static_cast<double>(number));
  }
  return culprit;
}

FailureOr<StepBuilder::UpdateNumbers> StepBuilder::takeUpdateNumbers(StepFunction &function, Updates &updates) {
  double defaultRate = grad::getDefaultLearningRate(choice.optimizer.builtIn.kind);
  UpdateNumbers numbers;
  numbers.learningRate = addNumber(function, "learning_rate", choice.optimizer.learningRate.value_or(defaultRate));
  if (!choice.updatesEarly)
    numbers.clipNorm = addNumber(function, "clip_norm", std::numeric_limits<double>::infinity());
  if (failed(updates.takeNumbers(ports.hyperparameters)))
    return failure();
  return numbers;
}

/// Decides whether the step is skipped, and updates all parameters.
LogicalResult StepBuilder::buildDecidedUpdate(StepFunction &function, Updates &updates, const UpdateNumbers &numbers,
                                              const BatchGradients &batch) {
  expressions::GraphBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  SmallVector<Value> gradients = map_to_vector(batch.gradients, [](Tensor gradient) { return gradient.value(); });

  // The gradients' common factor: the loss scale times the number of elements that they are summed over.
  Tensor multiple = batch.scale;
  // The skip decision: a gradient that is not finite makes its sum of squares, and so the norm, not finite. Overflowing
  // squares of finite gradients skip the step as well: they leave no usable clipping factor.
  SkipDecision decision;
  Tensor norm(b, grad::buildGlobalNorm(b, location, gradients, &decision.squares, /*keepApart=*/choice.apart));
  Tensor skip = logicalNot(norm < std::numeric_limits<double>::infinity());
  if (choice.accumulate || choice.apart) {
    Tensor count(b, batch.model.loss.count);
    multiple = multiple ? cast(multiple, count.elementType()) * count : count;
    skip = skip | equal(count, 0.0);
  }
  if (multiple)
    norm = norm / cast(multiple, norm.elementType());
  Tensor factor(b,
                grad::buildClipFactor(b, location, norm.value(), cast(numbers.clipNorm, norm.elementType()).value()));
  if (multiple)
    factor = factor / cast(multiple, factor.elementType());
  Value stepNumber = grad::buildStepNumber(b, location, batch.stepsDone.value());
  grad::StepValues stepValues{numbers.learningRate.value(), stepNumber, skip.value()};
  for (auto [parameter, value, gradient] : zip_equal(batch.trained, batch.parameters, gradients)) {
    Tensor scaled(b, grad::buildScaled(b, location, gradient, factor.value()));
    if (failed(updates.build(*parameter, value, scaled, stepValues)))
      return failure();
  }
  decision.norm = norm;
  decision.skip = skip;
  finishStep(function, batch, decision);
  return success();
}

/// Updates each parameter where its gradient is made, unless that is not finite.
LogicalResult StepBuilder::buildEarlyUpdates(StepFunction &function, Updates &updates, const UpdateNumbers &numbers,
                                             const BatchGradients &batch) {
  expressions::GraphBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  grad::StepValues stepValues;
  {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(batch.stepsDone.value().getParentBlock());
    stepValues = {numbers.learningRate.value(), grad::buildStepNumber(b, location, batch.stepsDone.value()), {}};
  }
  SkipDecision decision;
  for (auto [parameter, value, gradient] : zip_equal(batch.trained, batch.parameters, batch.gradients)) {
    mlir::OpBuilder::InsertionGuard guard(b);
    if (mlir::Operation *made = gradient.value().getDefiningOp())
      b.setInsertionPointAfter(made);
    Tensor squares(b, grad::buildSumOfSquares(b, location, gradient.value()));
    decision.squares.push_back(squares.value());
    stepValues.skip = logicalNot(squares < std::numeric_limits<double>::infinity()).value();
    // Whether it is finite is known after the product: moments that go along with its sums would be stored apart.
    Tensor whole(b, graph::BarrierOp::create(b, location, gradient.value()));
    if (failed(updates.build(*parameter, value, widen(whole), stepValues)))
      return failure();
  }
  decision.norm = Tensor(b, grad::buildNorm(b, location, decision.squares));
  decision.skip = logicalNot(decision.norm < std::numeric_limits<double>::infinity());
  finishStep(function, batch, decision);
  return success();
}

/// Updates the states of the step as a whole, and adds its outputs.
void StepBuilder::finishStep(StepFunction &function, const BatchGradients &batch, const SkipDecision &decision) {
  expressions::GraphBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  bool isSum = choice.accumulate || choice.apart;
  Tensor skip = decision.skip;
  if (choice.apart)
    adoptPending(function, skip);
  else
    function.keepStatistics(skip);
  function.updateState(stepsDoneName,
                       Tensor(b, grad::buildStepsDone(b, location, batch.stepsDone.value(), skip.value())));
  if (isSum)
    clearAccumulated(function, batch);

  function.addOutput("loss", isSum ? Tensor(b, grad::buildMean(b, location, batch.model.loss)) : batch.objective);
  function.addOutput("gradient_norm", decision.norm);
  function.addOutput("skipped", skip);
  function.addOutput("not_finite", findCulprit(b, decision.squares));
  if (batch.scale) {
    Tensor tracker = takeScalarState(function, "growth_tracker", b.getI32Type(), 0);
    grad::LossScale next = grad::buildLossScaleUpdate(b, location, {batch.scale.value(), tracker.value()}, skip.value(),
                                                      takeScalingNumbers(function));
    function.updateState("loss_scale", Tensor(b, next.scale));
    function.updateState("growth_tracker", Tensor(b, next.growthTracker));
    function.addOutput("scale", Tensor(b, next.scale));
  }
}

LogicalResult StepBuilder::buildStep(mlir::func::FuncOp source) {
  if (failed(requireFreeNames(source)))
    return failure();
  if (choice.precision)
    ports.narrowProducts = grad::lowerPrecision(source, choice.precision);
  StepFunction function(source);
  statistics = function.getUpdatedStates();
  Updates updates(choice.optimizer, function, weights, error);
  FailureOr<UpdateNumbers> numbers = takeUpdateNumbers(function, updates);
  if (failed(numbers))
    return failure();
  FailureOr<BatchGradients> batch = buildGradients(function);
  if (failed(batch) || failed(takePorts(function, *batch)))
    return failure();
  if (choice.accumulate)
    addAccumulated(function, *batch);
  if (failed(choice.updatesEarly ? buildEarlyUpdates(function, updates, *numbers, *batch)
                                 : buildDecidedUpdate(function, updates, *numbers, *batch)))
    return failure();
  function.finish();
  return success();
}

LogicalResult StepBuilder::buildEvaluation(mlir::func::FuncOp source) {
  StepFunction function(source);
  expressions::GraphBuilder &b = function.builder();
  FailureOr<ModelLoss> built = buildModelLoss(function, choice.loss, weights, error);
  if (failed(built))
    return failure();
  for (const Parameter &parameter : parameters)
    if (parameter.trained)
      function.takeWeight(parameter.name, parameter.type);
  for (const auto &[name, type] : statistics)
    function.takeWeight(name, type);
  function.addOutput("loss_sum", Tensor(b, built->loss.sum));
  function.addOutput("count", Tensor(b, built->loss.count));
  if (isOverClasses(choice.loss.kind)) {
    auto best = graph::ArgReduceOp::create(b, graph::ArgKind::max, built->predictions.value(), built->classAxis);
    Tensor labels = cast(built->labels, b.getI64Type());
    Tensor isRight = equal(Tensor(b, best.getResult()), labels);
    Tensor ignored = splatLike(double(choice.loss.ignoreIndex), labels);
    Tensor isCounted = compare(graph::CompareKind::ne, labels, ignored);
    function.addOutput("correct", sum(cast(isRight & isCounted, b.getF32Type())));
    function.addOutput("labels", sum(cast(isCounted, b.getF32Type())));
  }
  function.finish();
  return success();
}

FailureOr<StepPorts> step::buildTrainingStep(const StepFunctions &functions, const StepChoice &choice,
                                             ArrayRef<Parameter> parameters, WeightStore &weights, std::string &error) {
  StepBuilder builder(choice, parameters, weights, error);
  bool isBuilt = choice.apart ? succeeded(builder.buildMicroBatch(functions.step)) &&
                                    succeeded(builder.buildUpdate(functions.update))
                              : succeeded(builder.buildStep(functions.step));
  if (!isBuilt || (choice.accumulate && failed(builder.buildAccumulation(functions.accumulate))) ||
      failed(builder.buildEvaluation(functions.evaluation)))
    return failure();
  if (choice.apart)
    for (mlir::func::FuncOp function : {functions.step, functions.update, functions.evaluation})
      markStates(function, parameters);
  return builder.takePorts();
}
