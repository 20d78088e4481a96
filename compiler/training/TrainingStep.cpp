#include "compiler/training/TrainingStep.h"

#include "compiler/grad/Differentiate.h"
#include "compiler/grad/GradientScaling.h"
#include "compiler/grad/Losses.h"
#include "compiler/training/StepFunction.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::training;
using grad::Tensor;
using mlir::Value;

namespace {

bool isOverClasses(LossKind kind) {
  return kind == LossKind::SoftmaxCrossEntropy || kind == LossKind::NegativeLogLikelihood;
}

/// A number of an optimizer by its name in PyTorch.
struct NamedNumber {
  StringRef name;
  grad::Number grad::Optimizer::*number;
};

SmallVector<NamedNumber> getNumbers(grad::OptimizerKind kind) {
  using grad::Optimizer;
  using grad::OptimizerKind;
  NamedNumber momentum{"momentum", &Optimizer::momentum}, dampening{"dampening", &Optimizer::dampening};
  NamedNumber beta1{"beta1", &Optimizer::beta1}, beta2{"beta2", &Optimizer::beta2}, alpha{"alpha", &Optimizer::alpha};
  NamedNumber eps{"eps", &Optimizer::eps}, decay{"weight_decay", &Optimizer::weightDecay};
  switch (kind) {
  case OptimizerKind::Sgd:
    return {momentum, dampening, decay};
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW:
  case OptimizerKind::Lamb:
    return {beta1, beta2, eps, decay};
  case OptimizerKind::Adagrad:
    return {{"lr_decay", &Optimizer::lrDecay}, eps, decay};
  case OptimizerKind::RmsProp:
    return {alpha, momentum, eps, decay};
  case OptimizerKind::Lion:
    return {beta1, beta2, decay};
  }
  llvm_unreachable("all kinds are above");
}

/// Whether a number decides which states there are, so that it is compiled in.
bool isStructural(const NamedNumber &number, const grad::Optimizer &optimizer) {
  return number.name == "momentum" && (optimizer.*number.number).isConstant(0);
}

/// The loss of a function of the model, and the predictions and labels that it compares.
struct BuiltLoss {
  grad::Loss loss;
  Tensor predictions, labels;
  int64_t classAxis = 0;
};

class StepBuilder {
public:
  StepBuilder(const StepChoice &choice, ArrayRef<Parameter> parameters, WeightStore &weights, std::string &error)
      : choice(choice), parameters(parameters), weights(weights), error(error) {}

  LogicalResult buildStep(mlir::func::FuncOp function);
  LogicalResult buildEvaluation(mlir::func::FuncOp function);
  StepPorts takePorts() { return std::move(ports); }

private:
  LogicalResult requireFreeNames(mlir::func::FuncOp source);
  FailureOr<BuiltLoss> buildLoss(StepFunction &function);
  LogicalResult findClassAxis(BuiltLoss &built);
  grad::Optimizer takeNumbers(StepFunction &function);
  Tensor addNumber(StepFunction &function, StringRef name, double value);
  Tensor addStateTensor(StepFunction &function, const Parameter &parameter, const grad::StateTensor &tensor);
  LogicalResult fail(const Twine &message) {
    error = message.str();
    return failure();
  }

  const StepChoice &choice;
  ArrayRef<Parameter> parameters;
  WeightStore &weights;
  std::string &error;
  StepPorts ports;
  /// Weights that the form of training gives new values.
  std::vector<std::pair<std::string, graph::TensorType>> statistics;
};

/// Whether labels of this shape, -1 for sizes that vary, name the classes along `axis`.
bool fitsAxis(ArrayRef<sym::Expr> predictions, ArrayRef<int64_t> labels, int64_t axis) {
  if (labels.size() + 1 != predictions.size())
    return false;
  for (auto [dim, size] : enumerate(labels)) {
    std::optional<int64_t> known = predictions[int64_t(dim) < axis ? dim : dim + 1].asConstant();
    if (size < 0 ? known.has_value() : known && known != size)
      return false;
  }
  return true;
}

std::string describeShape(ArrayRef<sym::Expr> shape) {
  std::string text;
  for (sym::Expr size : shape)
    text += (text.empty() ? "[" : ", ") + size.str();
  return text + "]";
}

/// The dimension of the classes as the user says, else as the labels' shape says, else by the rank.
LogicalResult StepBuilder::findClassAxis(BuiltLoss &built) {
  ArrayRef<sym::Expr> shape = built.predictions.shape();
  int64_t rank = shape.size();
  ArrayRef<int64_t> labels = choice.loss.labelShape;
  std::optional<int64_t> axis = choice.loss.classAxis;
  if (!axis && !labels.empty()) {
    auto fits = [&](int64_t candidate) { return fitsAxis(shape, labels, candidate); };
    SmallVector<int64_t> fitting = filter_to_vector(seq<int64_t>(1, rank), fits);
    if (fitting.size() != 1)
      return fail("the labels have " + Twine(labels.size()) + " dimensions and the output that the loss takes is " +
                  describeShape(shape) + ": " + (fitting.empty() ? "no" : "more than one") +
                  " dimension of it can be that of the classes; name it with --class-axis");
    axis = fitting.front();
  }
  if (!axis)
    axis = rank == 3 ? 2 : 1;
  built.classAxis = *axis < 0 ? *axis + rank : *axis;
  if (built.classAxis >= 0 && built.classAxis < rank) {
    ports.classes = shape[built.classAxis].asConstant();
    return success();
  }
  return fail("the output that the loss takes has rank " + Twine(rank) + ", and no dimension " + Twine(*axis) +
              " of classes; name another with --class-axis");
}

FailureOr<BuiltLoss> StepBuilder::buildLoss(StepFunction &function) {
  const LossChoice &loss = choice.loss;
  mlir::ImplicitLocOpBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  BuiltLoss built;
  built.predictions = function.findOutput(loss.output, error);
  if (!built.predictions)
    return failure();
  if (!isa<mlir::FloatType>(built.predictions.elementType()))
    return fail("the output that the loss takes has no floats");
  if (loss.kind == LossKind::Output) {
    if (!built.predictions.type().getNumElements().isConstant(1))
      return fail("the output that is the loss has more than one element");
    Tensor value = grad::widen(grad::reshape(built.predictions, {}));
    built.loss = {value.value(), grad::splatLike(1, value).value()};
    return built;
  }

  grad::Shape shape(built.predictions.shape());
  mlir::Type labelType = loss.labelType;
  if (isOverClasses(loss.kind)) {
    if (failed(findClassAxis(built)))
      return failure();
    shape.erase(shape.begin() + built.classAxis);
  }
  if (!labelType)
    labelType = isOverClasses(loss.kind) ? b.getI64Type() : built.predictions.elementType();
  ports.labels = loss.labels;
  built.labels = function.addInput(loss.labels, graph::TensorType::get(shape, labelType));
  Value predictions = built.predictions.value(), labels = built.labels.value();
  grad::ClassLossOptions options{built.classAxis, loss.ignoreIndex, loss.labelSmoothing, {}};
  switch (loss.kind) {
  case LossKind::SoftmaxCrossEntropy:
    built.loss = grad::buildSoftmaxCrossEntropy(b, location, predictions, labels, options);
    break;
  case LossKind::NegativeLogLikelihood:
    built.loss = grad::buildNegativeLogLikelihood(b, location, predictions, labels, options);
    break;
  case LossKind::SigmoidCrossEntropy:
    built.loss = grad::buildSigmoidCrossEntropy(b, location, predictions, labels);
    break;
  case LossKind::MeanSquaredError:
    built.loss = grad::buildMeanSquaredError(b, location, predictions, labels);
    break;
  case LossKind::L1:
    built.loss = grad::buildL1(b, location, predictions, labels);
    break;
  case LossKind::Huber:
    built.loss = grad::buildHuber(b, location, predictions, labels, loss.huberDelta);
    break;
  case LossKind::Cosine:
    built.loss = grad::buildCosine(b, location, predictions, labels);
    break;
  case LossKind::Output:
    llvm_unreachable("returned above");
  }
  return built;
}

Tensor StepBuilder::addNumber(StepFunction &function, StringRef name, double value) {
  ports.hyperparameters.push_back({name.str(), value});
  return function.addInput(name, graph::TensorType::getStatic({}, function.builder().getF64Type()));
}

grad::Optimizer StepBuilder::takeNumbers(StepFunction &function) {
  grad::Optimizer optimizer = choice.optimizer;
  for (const NamedNumber &number : getNumbers(optimizer.kind)) {
    grad::Number &value = optimizer.*number.number;
    if (value.getConstant() && !isStructural(number, optimizer))
      value = addNumber(function, number.name, *value.getConstant()).value();
  }
  return optimizer;
}

Tensor StepBuilder::addStateTensor(StepFunction &function, const Parameter &parameter, const grad::StateTensor &tensor) {
  std::string name = "optimizer/" + tensor.name.str() + "/" + parameter.name;
  if (tensor.initial == 0)
    return function.addState(name, parameter.type);
  SmallVector<int64_t> dims = *parameter.type.getStaticShape();
  auto type = cast<mlir::FloatType>(parameter.type.getElementType());
  APFloat number(tensor.initial);
  bool losesInformation = false;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInformation);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  int64_t width = type.getWidth() / 8, count = *parameter.type.getNumElements().asConstant();
  std::vector<char> bytes(count * width);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(&bytes[i * width], &bits, width);
  weights.addOwned(name, type, dims, std::move(bytes));
  return function.addState(name, parameter.type, name);
}

/// A scalar that the program keeps, beginning as `initial`.
template <typename T> Tensor addScalarState(StepFunction &function, WeightStore &weights, StringRef name, mlir::Type type, T initial) {
  std::vector<char> bytes(sizeof(T));
  std::memcpy(bytes.data(), &initial, sizeof(T));
  weights.addOwned(name, type, {}, std::move(bytes));
  return function.addState(name, graph::TensorType::getStatic({}, type), name);
}

/// No input of the model may have the name of one that the step takes besides.
LogicalResult StepBuilder::requireFreeNames(mlir::func::FuncOp source) {
  SmallVector<StringRef> taken = {"learning_rate", "clip_norm", "seed"};
  for (const NamedNumber &number : getNumbers(choice.optimizer.kind))
    taken.push_back(number.name);
  for (unsigned index = 0; index < source.getNumArguments(); ++index) {
    auto name = source.getArgAttrOfType<mlir::StringAttr>(index, "graph.name");
    if (name && choice.loss.kind != LossKind::Output && name == choice.loss.labels)
      return fail("the model has an input '" + name.str() + "' itself; name the array of the labels otherwise (--labels)");
    if (name && is_contained(taken, name.getValue()))
      return fail("the model has an input '" + name.str() + "', which is the name of an input of the training step; rename it");
  }
  return success();
}

LogicalResult StepBuilder::buildStep(mlir::func::FuncOp source) {
  if (failed(requireFreeNames(source)))
    return failure();
  StepFunction function(source);
  statistics = function.getUpdatedStates();
  mlir::ImplicitLocOpBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  FailureOr<BuiltLoss> built = buildLoss(function);
  if (failed(built))
    return failure();
  Value mean = grad::buildMean(b, location, built->loss);

  Tensor learningRate = addNumber(function, "learning_rate", grad::getDefaultLearningRate(choice.optimizer.kind));
  Tensor clipNorm = addNumber(function, "clip_norm", std::numeric_limits<double>::infinity());
  grad::Optimizer optimizer = takeNumbers(function);
  SmallVector<const Parameter *> trained;
  SmallVector<Tensor> values;
  for (const Parameter &parameter : parameters) {
    if (!parameter.trained)
      continue;
    trained.push_back(&parameter);
    values.push_back(function.takeWeight(parameter.name, parameter.type));
  }
  for (const auto &[name, type] : statistics)
    function.takeWeight(name, type);
  if (trained.empty())
    return fail("no parameter of the model is trained; choose some with --train 'PATTERN'");

  grad::LossScaleOptions scaling;
  Tensor scale, tracker;
  if (choice.scaleLoss) {
    scale = addScalarState<float>(function, weights, "loss_scale", b.getF32Type(), scaling.initialScale);
    tracker = addScalarState<int32_t>(function, weights, "growth_tracker", b.getI32Type(), 0);
  }
  graph::TensorType integer = graph::TensorType::getStatic({}, b.getI64Type());
  Tensor stepsDone = function.addState("optimizer/step", integer);
  ports.takesSeed = function.hasRandomKey();
  if (ports.takesSeed)
    function.provideRandomKey(function.addInput("seed", integer), stepsDone);

  SmallVector<Value> wanted = map_to_vector(values, [](Tensor value) { return value.value(); });
  Value seed = scale ? grad::cast(scale, mlir::cast<graph::TensorType>(mean.getType()).getElementType()).value() : Value();
  FailureOr<SmallVector<Value>> gradients = grad::differentiate(mean, wanted, seed);
  if (failed(gradients))
    return failure();

  Tensor overflowed(b, grad::buildAnyNonFinite(b, location, *gradients));
  Tensor norm(b, grad::buildGlobalNorm(b, location, *gradients));
  if (scale)
    norm = norm / grad::cast(scale, norm.elementType());
  Tensor factor(b, grad::buildClipFactor(b, location, norm.value(), grad::cast(clipNorm, norm.elementType()).value()));
  if (scale)
    factor = factor / grad::cast(scale, factor.elementType());
  Value stepNumber = grad::buildStepNumber(b, location, stepsDone.value());
  grad::StepValues stepValues{learningRate.value(), stepNumber, overflowed.value()};
  for (auto [parameter, value, gradient] : zip_equal(trained, values, *gradients)) {
    grad::Optimizer own = optimizer;
    if (!parameter->decays)
      own.weightDecay = 0.0;
    SmallVector<Value> state;
    SmallVector<grad::StateTensor> tensors = grad::getStateTensors(own);
    for (const grad::StateTensor &tensor : tensors)
      state.push_back(addStateTensor(function, *parameter, tensor).value());
    Value scaled = grad::buildScaled(b, location, gradient, factor.value());
    grad::Update update = grad::buildUpdate(b, location, own, value.value(), scaled, state, stepValues);
    function.updateState(parameter->name, Tensor(b, update.parameter));
    for (auto [tensor, next] : zip_equal(tensors, update.state))
      function.updateState("optimizer/" + tensor.name.str() + "/" + parameter->name, Tensor(b, next));
  }
  function.updateState("optimizer/step", Tensor(b, grad::buildStepsDone(b, location, stepsDone.value(), overflowed.value())));

  function.addOutput("loss", Tensor(b, mean));
  function.addOutput("gradient_norm", norm);
  function.addOutput("skipped", overflowed);
  if (scale) {
    grad::LossScale next = grad::buildLossScaleUpdate(b, location, {scale.value(), tracker.value()}, overflowed.value(), scaling);
    function.updateState("loss_scale", Tensor(b, next.scale));
    function.updateState("growth_tracker", Tensor(b, next.growthTracker));
    function.addOutput("scale", Tensor(b, next.scale));
  }
  function.finish();
  return success();
}

LogicalResult StepBuilder::buildEvaluation(mlir::func::FuncOp source) {
  StepFunction function(source);
  mlir::ImplicitLocOpBuilder &b = function.builder();
  FailureOr<BuiltLoss> built = buildLoss(function);
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
    Tensor labels = grad::cast(built->labels, b.getI64Type());
    Tensor isRight = grad::equal(Tensor(b, best.getResult()), labels);
    Tensor ignored = grad::splatLike(double(choice.loss.ignoreIndex), labels);
    Tensor isCounted = grad::compare(graph::CompareKind::ne, labels, ignored);
    function.addOutput("correct", grad::sum(grad::cast(isRight & isCounted, b.getF32Type())));
  }
  function.finish();
  return success();
}

} // namespace

std::optional<LossKind> training::getLossKind(StringRef name) {
  return StringSwitch<std::optional<LossKind>>(name)
      .Case("softmax-cross-entropy", LossKind::SoftmaxCrossEntropy)
      .Case("nll", LossKind::NegativeLogLikelihood)
      .Case("sigmoid-cross-entropy", LossKind::SigmoidCrossEntropy)
      .Case("mse", LossKind::MeanSquaredError)
      .Case("l1", LossKind::L1)
      .Case("huber", LossKind::Huber)
      .Case("cosine", LossKind::Cosine)
      .Default(std::nullopt);
}

FailureOr<StepPorts> training::buildTrainingStep(mlir::func::FuncOp step, mlir::func::FuncOp evaluation, const StepChoice &choice,
                                                 ArrayRef<Parameter> parameters, WeightStore &weights, std::string &error) {
  StepBuilder builder(choice, parameters, weights, error);
  if (failed(builder.buildStep(step)) || failed(builder.buildEvaluation(evaluation)))
    return failure();
  return builder.takePorts();
}
