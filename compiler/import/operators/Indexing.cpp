// Reading and writing at places that data decide.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

template <typename Apply> Tensor along(Node &node, int64_t otherwise, Apply apply) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", otherwise), x.rank());
  return axis ? apply(x, *axis) : Tensor();
}

std::optional<graph::ScatterKind> scatterKind(Node &node) {
  std::string name = node.text("reduction", "none");
  std::optional<graph::ScatterKind> kind = graph::symbolizeScatterKind(name);
  if (!kind)
    node.reject("the reduction '" + name + "' does not exist");
  return kind;
}

Tensor scatter(Node &node) {
  std::optional<graph::ScatterKind> kind = scatterKind(node);
  if (!kind)
    return {};
  return along(node, 0,
               [&](Tensor x, int64_t axis) { return scatterElements(x, node.input(1), node.input(2), axis, *kind); });
}

/// A cache with an update written along one axis, from a place on that each batch has of its own: rows scattered into
/// the cache as a list of rows. A place that the axis does not have is the row behind the last one.
Tensor tensorScatter(Node &node) {
  Tensor cache = node.input(0), update = node.input(1);
  if (!cache || !update)
    return {};
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -2), cache.rank());
  if (!axis)
    return {};
  std::string mode = node.text("mode", "linear");
  if (*axis == 0 || update.rank() != cache.rank() || (mode != "linear" && mode != "circular"))
    return node.reject(
        "the axis must not be the batch's, both must have one rank, and the mode must be linear or circular");
  ModelBuilder &builder = node.builder();
  Expr length = cache.dim(*axis), lines = builder.size(1);
  Shape expected(cache.shape());
  expected[*axis] = update.dim(*axis);
  update = conform(update, expected, "sizes of the cache and of what is written");
  Tensor start =
      node.has(2) ? cast(node.input(2), builder.getI64Type()) : builder.splat(0, builder.getI64Type(), {cache.dim(0)});
  start = conform(start, {cache.dim(0)}, "the sizes of the batch and of the places to write at");
  if (!update || !start)
    return {};

  SmallVector<int64_t> others;
  Shape lineShape;
  for (int64_t dim = 0; dim < *axis; ++dim) {
    lines = lines * cache.dim(dim);
    lineShape.push_back(cache.dim(dim));
    others.push_back(dim + 1);
  }
  lineShape.push_back(builder.size(1));
  Tensor place = unsqueeze(start, others) + iota(builder, {update.dim(*axis)}, 0, builder.getI64Type());
  if (mode == "circular")
    place = binary(BinaryKind::mod, place, builder.integer(length));
  Tensor line = reshape(iota(builder, {lines}, 0, builder.getI64Type()), lineShape);
  Tensor row = select((place >= 0.0) & (place < builder.integer(length)), line * builder.integer(length) + place,
                      builder.integer(lines * length));

  Shape rows = {lines * length};
  append_range(rows, cache.shape().drop_front(*axis + 1));
  Tensor result = scatterNd(reshape(cache, rows), unsqueeze(row, {-1}), update, graph::ScatterKind::none);
  return reshape(result, cache.shape());
}

/// One where a new dimension's coordinate is the index, which may count from its end, else zero.
Tensor oneHot(Node &node) {
  Tensor indices = node.input(0), values = node.input(2), depthInput = node.input(1);
  if (!indices || !values || !depthInput)
    return {};
  if (values.rank() != 1)
    return node.reject("the values must be a vector of two");
  ModelBuilder &builder = node.builder();
  Tensor whole = cast(depthInput, builder.getI64Type());
  if (!whole)
    return {};
  if (!whole.content())
    return node.refuse("the depth is computed from data");
  if (whole.content()->size() != 1)
    return node.reject("the depth must be one number");
  Expr depth = builder.defineSize("depth", whole.content()->front().asExpr());
  std::optional<int64_t> axis = node.normalize(node.integer("axis", -1), indices.rank() + 1);
  if (!axis)
    return {};
  Tensor size = reshape(builder.vector(ArrayRef(depth)), {});
  Tensor place = cast(indices, builder.getI64Type());
  place = unsqueeze(select(place < 0.0, place + size, place), {*axis});
  Shape spread(indices.rank() + 1, builder.size(1));
  spread[*axis] = depth;
  Tensor hit = equal(place, iota(builder, spread, *axis, builder.getI64Type()));
  Tensor off = slice(values, 0, builder.size(0), builder.size(1)),
         on = slice(values, 0, builder.size(1), builder.size(1));
  return select(hit, reshape(on, {}), reshape(off, {}));
}

} // namespace

void registerIndexing(Registry &registry) {
  registry.add("Gather", {1}, [](Node &node) {
    return along(node, 0, [&](Tensor x, int64_t axis) { return gather(x, node.input(1), axis); });
  });
  registry.add("GatherElements", {11}, [](Node &node) {
    return along(node, 0, [&](Tensor x, int64_t axis) { return gatherElements(x, node.input(1), axis); });
  });
  registry.add("GatherND", {11},
               [](Node &node) { return gatherNd(node.input(0), node.input(1), node.integer("batch_dims")); });
  registry.add("Scatter", {9, 10}, scatter);
  registry.add("ScatterElements", {11}, scatter);
  registry.add("ScatterND", {11}, [](Node &node) {
    std::optional<graph::ScatterKind> kind = scatterKind(node);
    return kind ? scatterNd(node.input(0), node.input(1), node.input(2), *kind) : Tensor();
  });
  registry.add("OneHot", {9}, oneHot);
  registry.add("TensorScatter", {24}, tensorScatter);
}

} // namespace freestone::importer
