// All trees are walked for all rows at once, one level after the other: each step reads the nodes' tables at the places
// that were reached. The time depends on the depth of the deepest tree, not on the rows.
#include "compiler/import/operators/Forest.h"

using namespace llvm;

namespace freestone::importer {

Tensor constantTable(ModelBuilder &builder, ArrayRef<double> numbers, ArrayRef<int64_t> dims, mlir::Type type) {
  TensorData data;
  data.type = type;
  data.dims.assign(dims.begin(), dims.end());
  data.count = numbers.size();
  auto append = [&](auto number) { data.owned.append(reinterpret_cast<const char *>(&number), sizeof(number)); };
  for (double number : numbers)
    if (type.isInteger(64))
      append(int64_t(number));
    else if (type.isInteger(32))
      append(int32_t(number));
    else if (type.isInteger(1))
      append(char(number != 0));
    else if (type.isF64())
      append(number);
    else
      append(float(number));
  data.bytes = {data.owned.data(), data.owned.size()};
  return builder.fromData(data);
}

namespace {

/// The number of steps from the roots to the furthest leaf; nothing if there is none, or a node does not exist.
std::optional<int64_t> depthOf(const Forest &forest) {
  int64_t count = forest.nodes.size();
  auto exists = [&](int64_t node) { return node >= 0 && node < count; };
  for (const Forest::Branch &branch : forest.nodes)
    if (!exists(branch.whenTrue) || !exists(branch.whenFalse) || branch.feature < 0)
      return std::nullopt;
  std::vector<int64_t> level = forest.roots;
  if (!llvm::all_of(level, exists))
    return std::nullopt;
  for (int64_t depth = 0; depth <= count; ++depth) {
    std::vector<int64_t> next;
    for (int64_t node : level)
      for (int64_t child : {forest.nodes[node].whenTrue, forest.nodes[node].whenFalse})
        if (child != node)
          next.push_back(child);
    if (next.empty())
      return depth;
    llvm::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    level = std::move(next);
  }
  return std::nullopt;
}

Tensor compareAs(NodeMode mode, Tensor x, Tensor number) {
  switch (mode) {
  case NodeMode::LessOrEqual:
    return x <= number;
  case NodeMode::Less:
    return x < number;
  case NodeMode::GreaterOrEqual:
    return x >= number;
  case NodeMode::Greater:
    return x > number;
  case NodeMode::Equal:
    return equal(x, number);
  case NodeMode::NotEqual:
    return notEqual(x, number);
  }
  llvm_unreachable("a mode without a case");
}

} // namespace

Tensor Forest::evaluate(Node &node, Tensor x, int64_t targets, mlir::Type wide) const {
  ModelBuilder &builder = node.builder();
  std::optional<int64_t> depth = depthOf(*this);
  if (!depth || targets < 1 || roots.empty() || llvm::any_of(weights, [&](const Weight &weight) {
        return weight.node < 0 || weight.node >= int64_t(nodes.size()) || weight.target < 0 || weight.target >= targets;
      }))
    return node.reject("a tree has a node that does not exist or that leads back to itself, or a weight has no target");
  int64_t count = nodes.size();
  auto table = [&](auto field, mlir::Type type) {
    std::vector<double> numbers;
    for (const Branch &branch : nodes)
      numbers.push_back(double(field(branch)));
    return constantTable(builder, numbers, {count}, type);
  };
  mlir::Type i32 = builder.getI32Type();
  Tensor feature = table([](const Branch &b) { return b.feature; }, i32);
  Tensor number = table([](const Branch &b) { return b.number; }, wide);
  Tensor whenTrue = table([](const Branch &b) { return b.whenTrue; }, i32);
  Tensor whenFalse = table([](const Branch &b) { return b.whenFalse; }, i32);
  SmallVector<NodeMode> modes;
  bool nanMatters = false;
  for (const Branch &branch : nodes) {
    bool isLeaf = branch.whenTrue == branch.whenFalse;
    nanMatters |= branch.nanHolds;
    if (!isLeaf && !is_contained(modes, branch.mode))
      modes.push_back(branch.mode);
  }
  std::vector<double> first(roots.begin(), roots.end());
  Tensor place = broadcastTo(constantTable(builder, first, {1, int64_t(roots.size())}, i32),
                             {x.dim(0), builder.size(roots.size())});
  Tensor values = cast(x, wide);
  for (int64_t step = 0; step < *depth && place; ++step) {
    auto read = [&](Tensor table) { return gather(table, place, 0); };
    Tensor own = gatherElements(values, read(feature), 1), bound = read(number), holds;
    for (NodeMode mode : modes) {
      Tensor result = compareAs(mode, own, bound);
      if (holds) {
        Tensor isMode = table([&](const Branch &b) { return b.mode == mode; }, builder.getI1Type());
        result = select(read(isMode), result, holds);
      }
      holds = result;
    }
    if (nanMatters)
      holds = holds | (isNan(own) & read(table([](const Branch &b) { return b.nanHolds; }, builder.getI1Type())));
    place = select(holds, read(whenTrue), read(whenFalse));
  }
  std::vector<double> leaves(count * targets);
  for (const Weight &weight : weights)
    leaves[weight.node * targets + weight.target] += weight.value;
  return gather(constantTable(builder, leaves, {count, targets}, wide), place, 0);
}

} // namespace freestone::importer
