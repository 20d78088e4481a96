#include "compiler/step/ModelLoss.h"

#include "compiler/step/InlineGraph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::step;
using expressions::Tensor;
using mlir::Value;

namespace {

constexpr StringRef classWeightsName = "loss/class_weights";

class LossBuilder {
public:
  LossBuilder(StepFunction &function, const LossChoice &choice, WeightStore &weights, std::string &error)
      : function(function), choice(choice), weights(weights), error(error) {}

  FailureOr<ModelLoss> build();

private:
  FailureOr<ModelLoss> buildGraph();
  LogicalResult takeGraphOutputs(GraphInlining &graph, ModelLoss &built);
  LogicalResult findClassAxis(ModelLoss &built);
  LogicalResult addClassWeights(const ModelLoss &built, grad::ClassLossOptions &options);
  LogicalResult fail(const Twine &message) {
    error = message.str();
    return failure();
  }

  StepFunction &function;
  const LossChoice &choice;
  WeightStore &weights;
  std::string &error;
};

/// Whether labels of this shape (-1 for unknown sizes) may be classes along `axis`.
bool fitsAxis(ArrayRef<sym::Expr> predictions, ArrayRef<int64_t> labels, int64_t axis) {
  if (labels.size() + 1 != predictions.size())
    return false;
  for (auto [dim, size] : enumerate(labels)) {
    std::optional<int64_t> known = predictions[int64_t(dim) < axis ? dim : dim + 1].asConstant();
    if (size >= 0 && known && known != size)
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

/// The class axis: the user's choice, else the axis after the first that fits the labels. Unknown and symbolic sizes
/// fit many axes; among several candidates the only constant one is taken, since the number of classes is constant.
LogicalResult LossBuilder::findClassAxis(ModelLoss &built) {
  ArrayRef<sym::Expr> shape = built.predictions.shape();
  int64_t rank = shape.size();
  ArrayRef<int64_t> labels = choice.labelShape;
  std::optional<int64_t> axis = choice.classAxis;
  if (!axis) {
    auto fits = [&](int64_t candidate) { return labels.empty() || fitsAxis(shape, labels, candidate); };
    auto isConstant = [&](int64_t candidate) { return shape[candidate].asConstant().has_value(); };
    SmallVector<int64_t> fitting = filter_to_vector(seq<int64_t>(1, rank), fits),
                         constant = filter_to_vector(fitting, isConstant);
    ArrayRef<int64_t> found = fitting.size() == 1 ? fitting : constant;
    if (found.size() != 1)
      return fail("the output that the loss takes is " + describeShape(shape) +
                  (labels.empty() ? "" : ", and the labels have " + Twine(labels.size()) + " dimensions").str() + ": " +
                  (fitting.empty() ? "no" : "more than one") +
                  " dimension of it can be that of the classes; name it with --class-axis");
    axis = found.front();
  }
  built.classAxis = *axis < 0 ? *axis + rank : *axis;
  if (built.classAxis >= 0 && built.classAxis < rank) {
    built.classes = shape[built.classAxis].asConstant();
    return success();
  }
  return fail("the output that the loss takes has rank " + Twine(rank) + ", and no dimension " + Twine(*axis) +
              " of classes; name another with --class-axis");
}

/// Class weights are constants of the program, under a name that no model's initializer can have.
LogicalResult LossBuilder::addClassWeights(const ModelLoss &built, grad::ClassLossOptions &options) {
  ArrayRef<double> numbers = choice.classWeights;
  if (numbers.empty())
    return success();
  sym::Expr classes = built.predictions.dim(built.classAxis);
  if (!classes.isConstant(static_cast<int64_t>(numbers.size())))
    return fail("there are " + Twine(numbers.size()) + " class weights, and " + classes.str() + " classes");
  expressions::GraphBuilder &b = function.builder();
  SmallVector<float> elements(numbers.begin(), numbers.end());
  auto *bytes = reinterpret_cast<const char *>(elements.data());
  if (!weights.find(classWeightsName))
    weights.addOwned(classWeightsName, b.getF32Type(), {static_cast<int64_t>(elements.size())},
                     {bytes, bytes + elements.size() * sizeof(float)});
  auto type = graph::TensorType::getStatic({static_cast<int64_t>(elements.size())}, b.getF32Type());
  options.classWeights = graph::WeightOp::create(b, type, classWeightsName);
  return success();
}

/// A loss given as a graph: its inputs are outputs or inputs of the model by name, or arrays of the data.
FailureOr<ModelLoss> LossBuilder::buildGraph() {
  GraphInlining graph(choice.graph, function);
  auto refuse = [&](const Twine &why) { return fail("the loss does not fit the model: " + why); };
  std::string why;
  bool takesOutput = false;
  for (unsigned index = 0; index < graph.getInputCount(); ++index) {
    Tensor known = function.lookupOutput(graph.getInputName(index));
    takesOutput |= bool(known);
    if (!known)
      known = function.lookupInput(graph.getInputName(index));
    if (known && failed(graph.setInput(index, known, why)))
      return refuse(why);
  }
  if (!takesOutput) {
    Tensor output = function.findOutput(choice.output, error);
    if (!output)
      return failure();
    if (graph.getInputCount() == 0 || graph.isSet(0) || failed(graph.setInput(0, output, why)))
      return refuse(why.empty() ? "none of its inputs is an output of the model" : why);
  }
  ModelLoss built;
  unsigned arrays = 0;
  for (unsigned index = 0; index < graph.getInputCount(); ++index) {
    if (graph.isSet(index))
      continue;
    StringRef name = graph.getInputName(index);
    graph::TensorType type = graph.getFinalType(index);
    if (type.getRank() == 0)
      return refuse("its input '" + name +
                    "' is no output of the model, and has no dimension of samples to be filled by data");
    Tensor array = function.addInput(name, type);
    if (failed(graph.setInput(index, array, why)))
      return refuse(why);
    built.labels = array;
    built.labelName = name.str();
    ++arrays;
  }
  if (arrays != 1)
    built.labels = Tensor(), built.labelName.clear();
  if (failed(graph.inlineBody(why)))
    return refuse(why);
  if (failed(takeGraphOutputs(graph, built)))
    return failure();
  return built;
}

LogicalResult LossBuilder::takeGraphOutputs(GraphInlining &graph, ModelLoss &built) {
  SmallVector<Tensor> numbers;
  for (const auto &[name, value] : graph.getOutputs()) {
    if (!value.type().getNumElements().isConstant(1) || !isa<mlir::FloatType>(value.elementType()))
      return fail("the output '" + name + "' of the loss is " + describeShape(value.shape()) +
                  ", and must be one float: the loss of the batch, or the sum over what counts and how much counts");
    numbers.push_back(widen(reshape(value, {})));
  }
  if (numbers.empty() || numbers.size() > 2)
    return fail("a loss has one output, or two (the sum over what counts, and how much counts); this one has " +
                Twine(numbers.size()));
  Tensor sum = numbers.front(), count = numbers.size() == 2 ? numbers.back() : splatLike(1, sum);
  built.loss = {sum.value(), cast(count, sum.elementType()).value()};
  return success();
}

FailureOr<ModelLoss> LossBuilder::build() {
  expressions::GraphBuilder &b = function.builder();
  mlir::Location location = b.getLoc();
  ModelLoss built;
  if (!choice.classWeights.empty() && !isOverClasses(choice.kind))
    return fail("the loss has no classes to weigh; class weights are for softmax-cross-entropy and nll");
  if (choice.kind == LossKind::Graph)
    return buildGraph();
  built.predictions = function.findOutput(choice.output, error);
  if (!built.predictions)
    return failure();
  if (!isa<mlir::FloatType>(built.predictions.elementType()))
    return fail("the output that the loss takes has no floats");
  if (choice.kind == LossKind::Output) {
    if (!built.predictions.type().getNumElements().isConstant(1))
      return fail("the output that is the loss has more than one element");
    Tensor value = widen(reshape(built.predictions, {}));
    built.loss = {value.value(), splatLike(1, value).value()};
    return built;
  }

  expressions::Shape shape(built.predictions.shape());
  mlir::Type labelType = choice.labelType;
  if (isOverClasses(choice.kind)) {
    if (failed(findClassAxis(built)))
      return failure();
    shape.erase(shape.begin() + built.classAxis);
  }
  if (!labelType)
    labelType = isOverClasses(choice.kind) ? b.getI64Type() : built.predictions.elementType();
  built.labels = function.addInput(choice.labels, graph::TensorType::get(shape, labelType));
  built.labelName = choice.labels;
  Value predictions = built.predictions.value(), labels = built.labels.value();
  grad::ClassLossOptions options{built.classAxis, choice.ignoreIndex, choice.labelSmoothing, {}};
  if (failed(addClassWeights(built, options)))
    return failure();
  switch (choice.kind) {
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
    built.loss = grad::buildHuber(b, location, predictions, labels, choice.huberDelta);
    break;
  case LossKind::Cosine:
    built.loss = grad::buildCosine(b, location, predictions, labels);
    break;
  case LossKind::Output:
  case LossKind::Graph:
    llvm_unreachable("returned above");
  }
  return built;
}

} // namespace

std::optional<LossKind> step::getLossKind(StringRef name) {
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

FailureOr<ModelLoss> step::buildModelLoss(StepFunction &function, const LossChoice &choice, WeightStore &weights,
                                          std::string &error) {
  return LossBuilder(function, choice, weights, error).build();
}
