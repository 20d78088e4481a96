// Linear models and the preparation of features, of ai.onnx.ml.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/Forest.h"
#include "compiler/import/operators/Scores.h"

using namespace llvm;

namespace freestone::importer {

Tensor transformScores(Node &node, Tensor scores, StringRef transform) {
  if (!scores || transform == "NONE")
    return scores;
  if (transform == "LOGISTIC")
    return sigmoid(scores);
  if (transform == "SOFTMAX")
    return softmax(scores, scores.rank() - 1);
  if (transform == "SOFTMAX_ZERO") {
    // Scores of 0 stay 0, and have no share in the sum.
    Tensor isZero = equal(scores, 0.0);
    Tensor shifted = exp(scores - maximum(scores, {scores.rank() - 1}, true));
    Tensor powers = select(isZero, 0.0, shifted);
    return powers / sum(powers, {scores.rank() - 1}, true);
  }
  if (transform == "PROBIT")
    return node.refuse("the transform PROBIT is not supported");
  return node.reject("the transform '" + transform + "' does not exist");
}

void setClasses(Node &node, Tensor scores, ArrayRef<int64_t> labels, OneScore meaning) {
  if (!scores)
    return;
  ModelBuilder &builder = node.builder();
  std::string transform = node.text("post_transform", "NONE");
  Tensor best;
  if (scores.extent(1) == 1 && labels.size() == 2) {
    bool isShare = meaning == OneScore::Share;
    best = cast(reshape(scores, {scores.dim(0)}) > (isShare ? 0.5 : 0.0), builder.getI64Type());
    scores = concat({isShare ? 1.0 - scores : -scores, scores}, 1);
    if (isShare)
      transform = "NONE";
    else if (transform != "LOGISTIC")
      transform = "NONE";
  } else if (scores.extent(1) == int64_t(labels.size())) {
    best = argReduce(/*largest=*/true, scores, 1, /*lastIndex=*/false, /*keepDims=*/false);
  } else {
    node.reject("there must be one score for each class");
    return;
  }
  node.setOutput(0, gather(builder.vector(labels), best, 0));
  node.setOutput(1, cast(transformScores(node, scores, transform), builder.getF32Type()));
}

namespace {

Tensor floatsOf(Node &node, StringRef name, ArrayRef<int64_t> dims = {}) {
  SmallVector<double> numbers = node.reals(name);
  int64_t count = numbers.size();
  return constantTable(node.builder(), numbers, dims.empty() ? ArrayRef(count) : dims, node.builder().getF32Type());
}

/// x times the rows of the coefficients, plus the intercepts: [rows, targets].
Tensor linearScores(Node &node, Tensor x, int64_t targets) {
  mlir::Type f32 = node.builder().getF32Type();
  int64_t count = node.reals("coefficients").size(), intercepts = node.reals("intercepts").size();
  if (x.rank() == 1)
    x = unsqueeze(x, {0});
  if (x.rank() != 2 || targets < 1 || count % targets || (intercepts && intercepts != targets))
    return node.reject("the coefficients or the intercepts do not fit the input and the number of targets");
  Tensor rows = floatsOf(node, "coefficients", {targets, count / targets});
  Tensor scores = contract(cast(x, f32), rows, {{}, {}, {1}, {1}});
  return intercepts ? scores + floatsOf(node, "intercepts") : scores;
}

Tensor linearRegressor(Node &node) {
  Tensor x = node.input(0);
  return x ? transformScores(node, linearScores(node, x, node.integer("targets", 1)),
                             node.text("post_transform", "NONE"))
           : x;
}

void linearClassifier(Node &node) {
  Tensor x = node.input(0);
  SmallVector<int64_t> labels = node.integers("classlabels_ints");
  if (!x)
    return;
  if (labels.empty()) {
    node.refuse("classes must be numbers, not texts");
    return;
  }
  bool isOneScore = labels.size() == 2 && node.reals("intercepts").size() == 1;
  Tensor scores = linearScores(node, x, isOneScore ? 1 : int64_t(labels.size()));
  setClasses(node, scores, labels, OneScore::Sign);
}

Tensor arrayFeatureExtractor(Node &node) {
  Tensor x = node.input(0), indices = node.input(1);
  if (!x || !indices)
    return {};
  if (x.rank() == 0)
    return node.reject("the input is a scalar");
  if (x.rank() == 1)
    x = unsqueeze(x, {0});
  return gather(x, reshape(indices, {indices.elementCount()}), x.rank() - 1);
}

Tensor binarizer(Node &node) {
  Tensor x = node.input(0);
  return x ? cast(x > node.real("threshold", 0), x.elementType()) : x;
}

Tensor scaler(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  x = cast(x, node.builder().getF32Type());
  if (!node.reals("offset").empty())
    x = x - floatsOf(node, "offset");
  return node.reals("scale").empty() ? x : x * floatsOf(node, "scale");
}

Tensor normalizer(Node &node) {
  Tensor x = node.input(0);
  std::string norm = node.text("norm", "MAX");
  if (!x)
    return x;
  x = cast(x, node.builder().getF32Type());
  int64_t last = x.rank() - 1;
  if (last < 0)
    return node.reject("the input is a scalar");
  Tensor size;
  if (norm == "MAX")
    size = maximum(abs(x), {last}, true);
  else if (norm == "L1")
    size = sum(abs(x), {last}, true);
  else if (norm == "L2")
    size = sqrt(sum(square(x), {last}, true));
  else
    return node.reject("the norm '" + norm + "' does not exist");
  return x / max(size, 1e-30);
}

/// Numbers of one of an attribute's forms: ints, floats, or a tensor of numbers.
struct NumberList {
  std::vector<double> numbers;
  mlir::Type type;
};

std::optional<NumberList> listedNumbers(Node &node, StringRef stem) {
  mlir::MLIRContext *context = node.builder().getContext();
  NumberList list;
  if (const onnx::AttributeProto *tensor = node.attribute((stem + "_tensor").str())) {
    TensorData data;
    std::string error;
    ArrayRef<char> raw(tensor->t().raw_data().data(), tensor->t().raw_data().size());
    std::optional<Content> content;
    if (succeeded(decodeTensor(context, tensor->t(), raw, data, error)))
      content = contentOf(data);
    if (!content) {
      node.refuse("'" + stem + "' must be numbers, not texts");
      return std::nullopt;
    }
    for (const Element &element : *content)
      list.numbers.push_back(*element.asReal());
    list.type = data.type;
    return list;
  }
  if (SmallVector<int64_t> whole = node.integers((stem + "_int64s").str()); !whole.empty())
    return NumberList{{whole.begin(), whole.end()}, mlir::IntegerType::get(context, 64)};
  if (SmallVector<double> real = node.reals((stem + "_floats").str()); !real.empty())
    return NumberList{{real.begin(), real.end()}, mlir::Float32Type::get(context)};
  node.refuse("'" + stem + "' must be numbers, not texts");
  return std::nullopt;
}

/// Each element as the value beside its key, or the default.
Tensor labelEncoder(Node &node) {
  Tensor x = node.input(0);
  std::optional<NumberList> keys = x ? listedNumbers(node, "keys") : std::nullopt,
                            values = keys ? listedNumbers(node, "values") : std::nullopt;
  if (!values)
    return {};
  int64_t count = keys->numbers.size();
  if (int64_t(values->numbers.size()) != count || x.elementType() != keys->type)
    return node.reject("keys and values must be as many, and keys of the input's type");
  ModelBuilder &builder = node.builder();
  double otherwise =
      values->type.isInteger() ? double(node.integer("default_int64", -1)) : node.real("default_float", 0);
  if (node.hasAttribute("default_tensor")) {
    std::optional<NumberList> stated = listedNumbers(node, "default");
    if (!stated || stated->numbers.size() != 1)
      return stated ? node.reject("the default must be one number") : Tensor();
    otherwise = stated->numbers.front();
  }
  Tensor table = constantTable(builder, keys->numbers, {count}, keys->type), wide = unsqueeze(x, {-1});
  Tensor hits = equal(wide, table);
  if (x.isFloat())
    hits = hits | (isNan(wide) & isNan(table));
  // The first key that is met; the default stands behind the last value.
  std::vector<double> results = values->numbers;
  results.push_back(otherwise);
  Tensor place = iota(builder, {builder.size(count)}, 0, builder.getI32Type());
  Tensor first = reduce(ReduceKind::min, select(hits, place, scalarLike(count, place)), {x.rank()});
  return gather(constantTable(builder, results, {count + 1}, values->type), first, 0);
}

} // namespace

void registerTraditionalModels(Registry &registry) {
  registry.add("ai.onnx.ml.ArrayFeatureExtractor", {1}, arrayFeatureExtractor);
  registry.add("ai.onnx.ml.Binarizer", {1}, binarizer);
  registry.add("ai.onnx.ml.Scaler", {1}, scaler);
  registry.add("ai.onnx.ml.Normalizer", {1}, normalizer);
  registry.add("ai.onnx.ml.LabelEncoder", {2}, labelEncoder);
  registry.add("ai.onnx.ml.LinearRegressor", {1}, linearRegressor);
  registry.addMany("ai.onnx.ml.LinearClassifier", {1}, linearClassifier);
}

} // namespace freestone::importer
