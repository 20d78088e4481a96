// The decision trees of ai.onnx.ml.
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/operators/Forest.h"
#include "compiler/import/operators/Scores.h"
#include <map>

using namespace llvm;

namespace freestone::importer {
namespace {

/// Numbers of an attribute: floats, or those of the tensor that `name` with `_as_tensor` is.
std::optional<std::vector<double>> numbersOf(Node &node, StringRef name) {
  SmallVector<double> reals = node.reals(name);
  std::vector<double> numbers(reals.begin(), reals.end());
  const onnx::AttributeProto *tensor = node.attribute((name + "_as_tensor").str());
  if (const onnx::AttributeProto *own = node.attribute(name); own && own->has_t())
    tensor = own;
  if (!tensor)
    return numbers;
  TensorData data;
  std::string error;
  ArrayRef<char> raw(tensor->t().raw_data().data(), tensor->t().raw_data().size());
  std::optional<Content> content;
  if (succeeded(decodeTensor(node.builder().getContext(), tensor->t(), raw, data, error)))
    content = contentOf(data);
  if (!content) {
    node.reject("the attribute '" + name + "' is broken");
    return std::nullopt;
  }
  numbers.clear();
  for (const Element &element : *content)
    numbers.push_back(*element.asReal());
  return numbers;
}

std::optional<NodeMode> modeNamed(StringRef name) {
  constexpr StringRef names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  auto found = llvm::find(names, name);
  return found == std::end(names) ? std::nullopt : std::optional(NodeMode(found - std::begin(names)));
}

/// The trees of operator set 1 and 3: nodes have a tree and a number within it, and weights name both.
std::optional<Forest> numberedForest(Node &node, StringRef weightsOf) {
  SmallVector<int64_t> trees = node.integers("nodes_treeids"), numbers = node.integers("nodes_nodeids"),
                       features = node.integers("nodes_featureids"), whenTrue = node.integers("nodes_truenodeids"),
                       whenFalse = node.integers("nodes_falsenodeids"),
                       nan = node.integers("nodes_missing_value_tracks_true");
  std::optional<std::vector<double>> values = numbersOf(node, "nodes_values");
  std::optional<std::vector<double>> weights = numbersOf(node, (weightsOf + "_weights").str());
  const onnx::AttributeProto *modes = node.attribute("nodes_modes");
  if (!values || !weights)
    return std::nullopt;
  size_t count = trees.size();
  SmallVector<int64_t> ids = node.integers((weightsOf + "_ids").str()),
                       owners = node.integers((weightsOf + "_nodeids").str()),
                       ownerTrees = node.integers((weightsOf + "_treeids").str());
  auto invalid = [&]() -> std::optional<Forest> {
    node.reject("the attributes of the trees' nodes have different lengths, or name nodes that do not exist");
    return std::nullopt;
  };
  if (!count || numbers.size() != count || features.size() != count || whenTrue.size() != count ||
      whenFalse.size() != count || values->size() != count || !modes || modes->strings_size() != int(count) ||
      ids.size() != weights->size() || owners.size() != ids.size() || ownerTrees.size() != ids.size() ||
      (!nan.empty() && nan.size() != count))
    return invalid();
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  Forest forest;
  for (size_t index = 0; index < count; ++index) {
    places[{trees[index], numbers[index]}] = index;
    // A tree's first node is its root.
    if (index == 0 || trees[index] != trees[index - 1])
      forest.roots.push_back(index);
  }
  auto placeOf = [&](int64_t tree, int64_t number) {
    auto found = places.find({tree, number});
    return found == places.end() ? -1 : found->second;
  };
  for (size_t index = 0; index < count; ++index) {
    Forest::Branch branch{NodeMode::LessOrEqual, 0, 0, int64_t(index), int64_t(index)};
    if (modes->strings(index) != "LEAF") {
      std::optional<NodeMode> mode = modeNamed(modes->strings(index));
      if (!mode) {
        node.reject("the mode '" + modes->strings(index) + "' does not exist");
        return std::nullopt;
      }
      branch = {*mode,
                features[index],
                (*values)[index],
                placeOf(trees[index], whenTrue[index]),
                placeOf(trees[index], whenFalse[index]),
                !nan.empty() && nan[index] != 0};
    }
    forest.nodes.push_back(branch);
  }
  for (auto [id, owner, tree, weight] : zip_equal(ids, owners, ownerTrees, *weights)) {
    int64_t place = placeOf(tree, owner);
    if (place < 0)
      return invalid();
    forest.weights.push_back({place, id, weight});
  }
  return forest;
}

/// [rows, trees, targets] as [rows, targets].
Tensor aggregate(Node &node, Tensor values, StringRef how, int64_t trees) {
  if (how == "SUM")
    return sum(values, {1});
  if (how == "AVERAGE")
    return sum(values, {1}) / double(trees);
  if (how == "MIN" || how == "MAX")
    return reduce(how == "MIN" ? ReduceKind::min : ReduceKind::max, values, {1});
  return node.reject("the aggregation '" + how + "' does not exist");
}

mlir::Type widthFor(Node &node, Tensor x) {
  return x.elementType().isF64() ? x.elementType() : mlir::Type(node.builder().getF32Type());
}

/// The base values, where there are some, for each target.
Tensor withBase(Node &node, Tensor scores, int64_t targets) {
  std::optional<std::vector<double>> base = numbersOf(node, "base_values");
  if (!scores || !base || base->empty())
    return base ? scores : Tensor();
  if (int64_t(base->size()) != targets)
    return node.reject("there must be one base value for each target");
  return scores + constantTable(node.builder(), *base, {targets}, scores.elementType());
}

Tensor treeRegressor(Node &node) {
  Tensor x = node.input(0);
  std::optional<Forest> forest = x ? numberedForest(node, "target") : std::nullopt;
  if (!forest)
    return {};
  if (x.rank() != 2)
    return node.reject("the input must have the shape [rows, features]");
  int64_t targets = node.integer("n_targets", 1);
  Tensor values = forest->evaluate(node, x, targets, widthFor(node, x));
  Tensor scores =
      values ? aggregate(node, values, node.text("aggregate_function", "SUM"), forest->roots.size()) : values;
  scores = withBase(node, scores, targets);
  return cast(transformScores(node, scores, node.text("post_transform", "NONE")), node.builder().getF32Type());
}

void treeClassifier(Node &node) {
  Tensor x = node.input(0);
  std::optional<Forest> forest = x ? numberedForest(node, "class") : std::nullopt;
  if (!forest)
    return;
  SmallVector<int64_t> labels = node.integers("classlabels_int64s");
  if (labels.empty()) {
    node.refuse("classes must be numbers, not texts");
    return;
  }
  if (x.rank() != 2) {
    node.reject("the input must have the shape [rows, features]");
    return;
  }
  bool isOneScore = labels.size() == 2 && !forest->weights.empty() &&
                    llvm::all_of(forest->weights, [&](const Forest::Weight &weight) {
                      return weight.target == forest->weights.front().target;
                    });
  bool isPositive = llvm::all_of(forest->weights, [](const Forest::Weight &weight) { return weight.value >= 0; });
  if (isOneScore)
    for (Forest::Weight &weight : forest->weights)
      weight.target = 0;
  int64_t targets = isOneScore ? 1 : labels.size();
  Tensor values = forest->evaluate(node, x, targets, widthFor(node, x));
  Tensor scores = values ? withBase(node, sum(values, {1}), targets) : values;
  setClasses(node, scores, labels, isPositive ? OneScore::Share : OneScore::Sign);
}

/// The trees of operator set 5: inner nodes and leaves are apart, and a node may test for several numbers.
Tensor treeEnsemble(Node &node) {
  Tensor x = node.input(0);
  auto splits = numbersOf(node, "nodes_splits"), modes = numbersOf(node, "nodes_modes"),
       weights = numbersOf(node, "leaf_weights"), members = numbersOf(node, "membership_values");
  SmallVector<int64_t> features = node.integers("nodes_featureids"), whenTrue = node.integers("nodes_truenodeids"),
                       whenFalse = node.integers("nodes_falsenodeids"), trueLeafs = node.integers("nodes_trueleafs"),
                       falseLeafs = node.integers("nodes_falseleafs"), targets = node.integers("leaf_targetids"),
                       nan = node.integers("nodes_missing_value_tracks_true");
  if (!x || !splits || !modes || !weights || !members)
    return {};
  size_t count = features.size();
  constexpr double member = 6;
  bool fits = splits->size() == count && modes->size() == count && whenTrue.size() == count &&
              whenFalse.size() == count && trueLeafs.size() == count && falseLeafs.size() == count &&
              targets.size() == weights->size() && (nan.empty() || nan.size() == count) && x.rank() == 2;
  if (!fits || llvm::any_of(*modes, [&](double mode) { return mode < 0 || mode > member; }))
    return node.reject("the attributes of the trees' nodes have different lengths, or a mode does not exist");
  // Inner nodes come first, then leaves, then the further numbers of nodes that test for several.
  Forest forest;
  int64_t leaves = count;
  forest.nodes.resize(count + weights->size());
  for (auto [index, weight] : enumerate(*weights)) {
    int64_t place = leaves + index;
    forest.nodes[place].whenTrue = forest.nodes[place].whenFalse = place;
    forest.weights.push_back({place, targets[index], weight});
  }
  size_t next = 0;
  for (size_t index = 0; index < count; ++index) {
    Forest::Branch branch;
    branch.feature = features[index];
    branch.whenTrue = whenTrue[index] + (trueLeafs[index] ? leaves : 0);
    branch.whenFalse = whenFalse[index] + (falseLeafs[index] ? leaves : 0);
    branch.nanHolds = !nan.empty() && nan[index];
    branch.number = (*splits)[index];
    if ((*modes)[index] != member) {
      branch.mode = NodeMode(int((*modes)[index]));
      forest.nodes[index] = branch;
      continue;
    }
    branch.mode = NodeMode::Equal;
    int64_t otherwise = branch.whenFalse, place = index;
    bool isFirst = true;
    for (; next < members->size() && !std::isnan((*members)[next]); ++next) {
      if (!isFirst) {
        forest.nodes[place].whenFalse = forest.nodes.size();
        place = forest.nodes.size();
        forest.nodes.emplace_back();
      }
      isFirst = false;
      branch.number = (*members)[next];
      branch.whenFalse = otherwise;
      forest.nodes[place] = branch;
    }
    if (isFirst || next == members->size())
      return node.reject("a node that tests for membership has no members");
    ++next;
  }
  for (int64_t root : node.integers("tree_roots"))
    forest.roots.push_back(root);
  constexpr StringRef aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  int64_t how = node.integer("aggregate_function", 1), transform = node.integer("post_transform");
  if (how < 0 || how > 3 || transform < 0 || transform > 4)
    return node.reject("the aggregation or the transform does not exist");
  Tensor values = forest.evaluate(node, x, node.integer("n_targets", 1), widthFor(node, x));
  constexpr StringRef transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  Tensor scores = values ? aggregate(node, values, aggregates[how], forest.roots.size()) : values;
  return cast(transformScores(node, scores, transforms[transform]), x.elementType());
}

} // namespace

void registerTreeEnsembles(Registry &registry) {
  registry.add("ai.onnx.ml.TreeEnsembleRegressor", {1}, treeRegressor);
  registry.addMany("ai.onnx.ml.TreeEnsembleClassifier", {1}, treeClassifier);
  registry.add("ai.onnx.ml.TreeEnsemble", {5}, treeEnsemble);
}

} // namespace freestone::importer
