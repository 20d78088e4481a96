// Reductions to fewer elements, and running ones.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/AxisValues.h"

using namespace llvm;
using freestone::graph::ReduceKind;

namespace freestone::importer {
namespace {

/// Reduces axes that only the run knows.
template <typename Apply> Tensor reduceChosen(Node &node, Tensor x, ArrayRef<Expr> axes, Apply apply) {
  std::optional<Shape> chosen = chosenAxes(node, axes, x.rank());
  if (!chosen)
    return {};
  SmallVector<int64_t> parts;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    parts.push_back(2 * axis + 1);
  Tensor reduced = apply(splitAxes(node, x, *chosen), ArrayRef<int64_t>(parts), false, false);
  if (!reduced || node.integer("keepdims", 1))
    return reduced;
  return reshapeUnchecked(reduced, withoutChosen(node, x.shape(), *chosen, axes.size()));
}

/// `axes` are an attribute until the operator set `inputSince`, then an input; without any, all axes or none.
template <typename Apply> Tensor reduceNode(Node &node, int inputSince, Apply apply) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  SmallVector<int64_t> axes = node.integers("axes");
  if (node.opset() >= inputSince && node.has(1)) {
    std::optional<Shape> values = node.sizesInput(1);
    if (!values)
      return {};
    if (!areConstant(*values))
      return reduceChosen(node, x, *values, apply);
    axes = *node.constantsInput(1);
  }
  if (!node.normalize(axes, x.rank()))
    return {};
  if (axes.empty() && node.integer("noop_with_empty_axes"))
    return apply(x, ArrayRef<int64_t>(), true, /*isNoop=*/true);
  if (axes.empty())
    llvm::append_range(axes, llvm::seq<int64_t>(0, x.rank()));
  return apply(x, ArrayRef<int64_t>(axes), node.integer("keepdims", 1) != 0, axes.empty());
}

Tensor total(Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
  return isNoop ? x : sum(x, axes, keepDims);
}

void addReduction(Registry &registry, StringRef name, int inputSince,
                  std::function<Tensor(Tensor, ArrayRef<int64_t>, bool, bool)> apply) {
  registry.add(name, {1}, [=](Node &node) { return reduceNode(node, inputSince, apply); });
}

/// Maximum and minimum of bools are "any" and "all".
Tensor extremum(bool largest, Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
  if (!x || isNoop)
    return x;
  ReduceKind kind = largest ? ReduceKind::max : ReduceKind::min;
  if (x.isBool())
    kind = largest ? ReduceKind::or_ : ReduceKind::and_;
  return reduce(kind, x, axes, keepDims);
}

Tensor logSumExp(Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
  if (isNoop)
    return log(exp(x));
  Tensor largest = maximum(x, axes, /*keepDims=*/true);
  // An infinite maximum would make the difference NaN.
  if (largest)
    largest = select(abs(largest) < INFINITY, largest, 0.0);
  Tensor result = log(sum(exp(x - largest), axes, /*keepDims=*/true)) + largest;
  return keepDims || !result ? result : squeeze(result, axes);
}

Tensor argNode(Node &node, bool largest) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", 0), x.rank());
  if (!axis)
    return {};
  return argReduce(largest, x, *axis, node.integer("select_last_index") != 0, node.integer("keepdims", 1) != 0);
}

Tensor cumulateNode(Node &node, ReduceKind kind) {
  Tensor x = node.input(0);
  std::optional<Shape> values = node.sizesInput(1);
  if (!x || !values)
    return {};
  if (values->size() != 1)
    return node.reject("the axis must be one number");
  bool exclusive = node.integer("exclusive") != 0, reverse = node.integer("reverse") != 0;
  if (!areConstant(*values)) {
    Tensor running = cumulate(kind, aroundAxis(node, x, values->front()), 1, exclusive, reverse);
    return running ? reshapeUnchecked(running, x.shape()) : running;
  }
  std::optional<int64_t> axis = node.normalize(*values->front().asConstant(), x.rank());
  return axis ? cumulate(kind, x, *axis, exclusive, reverse) : Tensor();
}

void topKNode(Node &node) {
  Tensor x = node.input(0);
  std::optional<Shape> k;
  if (node.opset() < 10)
    k = Shape{node.builder().size(node.integer("k"))};
  else
    k = node.extentsInput(1);
  if (!x || !k)
    return;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), x.rank());
  if (!axis || k->size() != 1) {
    if (axis)
      node.reject("k must be one number");
    return;
  }
  auto [values, indices] = topK(x, k->front(), *axis, node.integer("largest", 1) != 0);
  node.setOutput(0, values);
  node.setOutput(1, indices);
}

/// x divided by its norm along an axis.
Tensor lpNormalization(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), x.rank());
  if (!axis)
    return {};
  bool first = node.integer("p", 2) == 1;
  Tensor norm = first ? sum(abs(x), {*axis}, true) : sqrt(sum(square(x), {*axis}, true));
  // A zero vector stays zero.
  return norm ? x / select(equal(norm, 0.0), 1.0, norm) : norm;
}

} // namespace

void registerReductions(Registry &registry) {
  addReduction(registry, "ReduceSum", 13, total);
  addReduction(registry, "ReduceMean", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return isNoop ? x : mean(x, axes, keepDims);
  });
  addReduction(registry, "ReduceProd", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return isNoop ? x : reduce(ReduceKind::mul, x, axes, keepDims);
  });
  addReduction(registry, "ReduceMax", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return extremum(/*largest=*/true, x, axes, keepDims, isNoop);
  });
  addReduction(registry, "ReduceMin", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return extremum(/*largest=*/false, x, axes, keepDims, isNoop);
  });
  addReduction(registry, "ReduceL1", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return total(abs(x), axes, keepDims, isNoop);
  });
  addReduction(registry, "ReduceL2", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return sqrt(total(square(x), axes, keepDims, isNoop));
  });
  addReduction(registry, "ReduceSumSquare", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return total(square(x), axes, keepDims, isNoop);
  });
  addReduction(registry, "ReduceLogSum", 18, [](Tensor x, ArrayRef<int64_t> axes, bool keepDims, bool isNoop) {
    return log(total(x, axes, keepDims, isNoop));
  });
  addReduction(registry, "ReduceLogSumExp", 18, logSumExp);
  registry.add("ArgMax", {1}, [](Node &node) { return argNode(node, /*largest=*/true); });
  registry.add("ArgMin", {1}, [](Node &node) { return argNode(node, /*largest=*/false); });
  registry.add("CumSum", {11}, [](Node &node) { return cumulateNode(node, ReduceKind::add); });
  registry.add("CumProd", {26}, [](Node &node) { return cumulateNode(node, ReduceKind::mul); });
  registry.addMany("TopK", {1}, topKNode);
  registry.add("LpNormalization", {1}, lpNormalization);
}

} // namespace freestone::importer
