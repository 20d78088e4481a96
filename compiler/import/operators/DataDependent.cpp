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

/// Boxes as their least, then their greatest coordinates: two opposite corners in any order, or centers and sizes.
Tensor cornersOf(Node &node, Tensor boxes) {
  ModelBuilder &builder = node.builder();
  auto pair = [&](int64_t first) { return slice(boxes, 2, builder.size(first), builder.size(2)); };
  if (node.integer("center_point_box"))
    return concat({pair(0) - pair(2) / 2.0, pair(0) + pair(2) / 2.0}, 2);
  return concat({min(pair(0), pair(2)), max(pair(0), pair(2))}, 2);
}

/// The batch, the class and the position of each box that is kept: [kept, 3].
Tensor nonMaxSuppression(Node &node) {
  Tensor boxes = node.input(0), scores = node.input(1);
  if (!boxes || !scores)
    return {};
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.extent(2) != 4)
    return node.reject("boxes must have the shape [batch, boxes, 4], and scores [batch, classes, boxes]");
  ModelBuilder &builder = node.builder();
  mlir::Type f32 = builder.getF32Type(), i64 = builder.getI64Type();
  auto number = [&](int64_t index, double otherwise, mlir::Type type) {
    if (!node.has(index))
      return builder.scalar(otherwise, type);
    Tensor given = node.input(index);
    if (given && !given.elementCount().isConstant(1))
      return node.reject("input " + Twine(index) + " must be one number");
    return given ? cast(reshape(given, {}), type) : given;
  };
  boxes = conform(boxes, {scores.dim(0), scores.dim(2), builder.size(4)}, "sizes of boxes and scores");
  if (!boxes)
    return {};
  Tensor kept = suppress(cast(cornersOf(node, boxes), f32), cast(scores, f32), number(2, 0, i64), number(3, 0, f32),
                         number(4, -INFINITY, f32));
  if (!kept)
    return {};
  Tensor places = transpose(nonZero(kept >= 0.0), {1, 0});
  Tensor positions = cast(gatherNd(kept, places), i64);
  return places && positions
             ? concat({slice(places, 1, builder.size(0), builder.size(2)), unsqueeze(positions, {1})}, 1)
             : Tensor();
}

} // namespace

void registerDataDependent(Registry &registry) {
  registry.add("NonZero", {9}, [](Node &node) { return nonZero(node.input(0)); });
  registry.add("Compress", {9}, compressNode);
  registry.add("NonMaxSuppression", {10}, nonMaxSuppression);
  registry.addMany("Unique", {11}, uniqueNode);
}

} // namespace freestone::importer
