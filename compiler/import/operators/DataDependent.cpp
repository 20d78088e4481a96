// Results whose sizes depend on data: they have an upper bound, and are known while running.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Tensor flattened(Tensor x) { return x ? reshape(x, {x.elementCount()}) : x; }

Tensor compressNode(Node &node) {
  Tensor x = node.input(0), condition = node.input(1);
  if (!x || !condition)
    return {};
  if (!node.hasAttribute("axis"))
    return compress(flattened(x), condition, 0);
  std::optional<int64_t> axis = node.normalize(node.integer("axis"), x.rank());
  return axis ? compress(x, condition, *axis) : Tensor();
}

void uniqueNode(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  std::optional<int64_t> axis = 0;
  if (node.hasAttribute("axis"))
    axis = node.normalize(node.integer("axis"), x.rank());
  else
    x = flattened(x);
  if (!axis)
    return;
  UniqueResult result = unique(x, *axis, node.integer("sorted", 1) != 0);
  node.setOutput(0, result.values);
  node.setOutput(1, result.first);
  node.setOutput(2, result.inverse);
  node.setOutput(3, result.counts);
}

} // namespace

void registerDataDependent(Registry &registry) {
  registry.add("NonZero", {9}, [](Node &node) { return nonZero(node.input(0)); });
  registry.add("Compress", {9}, compressNode);
  registry.addMany("Unique", {11}, uniqueNode);
}

} // namespace freestone::importer
