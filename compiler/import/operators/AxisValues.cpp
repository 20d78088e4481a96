#include "compiler/import/operators/AxisValues.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// The size where it is chosen, else 1; the other way around with 1 - chosen.
Expr sizeIf(Expr chosen, Expr size) { return chosen * (size - 1) + 1; }

/// The axes as numbers from 0 on, where they exist.
Shape fromZero(ModelBuilder &builder, ArrayRef<Expr> axes, int64_t rank) {
  Shape normal;
  for (Expr axis : axes)
    normal.push_back(builder.define("axis", axis + isNegative(axis) * rank));
  return normal;
}

} // namespace

Expr isValue(Expr expr, int64_t value) {
  Expr distance = Expr::max(expr - value, value - expr);
  return 1 - Expr::min(distance, Expr::constant(expr.context(), 1));
}

Expr isNegative(Expr expr) {
  return Expr::min(Expr::max(-expr, Expr::constant(expr.context(), 0)), Expr::constant(expr.context(), 1));
}

Shape valuesByAxis(Node &node, ArrayRef<Expr> axes, ArrayRef<Expr> values, ArrayRef<Expr> otherwise) {
  int64_t rank = otherwise.size();
  Shape result(otherwise);
  for (auto [axis, value] : zip_equal(fromZero(node.builder(), axes, rank), values))
    for (auto [index, chosen] : enumerate(result))
      chosen = chosen + isValue(axis, index) * (value - otherwise[index]);
  for (Expr &value : result)
    value = node.builder().define("by_axis", value);
  return result;
}

std::optional<Shape> chosenAxes(Node &node, ArrayRef<Expr> axes, int64_t rank) {
  ModelBuilder &builder = node.builder();
  Shape chosen;
  Expr found = builder.size(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    Expr hits = builder.size(0);
    for (Expr value : fromZero(builder, axes, rank))
      hits = hits + isValue(value, axis);
    hits = builder.define("hits", hits, {0, int64_t(axes.size())});
    chosen.push_back(builder.define("is_chosen", Expr::min(hits, builder.size(1)), {0, 1}));
    found = found + chosen.back();
  }
  if (!builder.makeEqual(found, builder.size(axes.size()), "the number of axes, and of those that exist"))
    return std::nullopt;
  return builder.current(chosen);
}

Tensor splitAxes(Node &node, Tensor x, ArrayRef<Expr> chosen) {
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  Shape split;
  for (auto [size, isChosen] : zip_equal(x.shape(), chosen)) {
    split.push_back(builder.define("kept", sizeIf(1 - isChosen, size), sym::Interval::size()));
    split.push_back(builder.define("chosen", sizeIf(isChosen, size), sym::Interval::size()));
  }
  return reshapeUnchecked(x, split);
}

Shape withoutChosen(Node &node, ArrayRef<Expr> shape, ArrayRef<Expr> chosen, int64_t count) {
  ModelBuilder &builder = node.builder();
  Shape kept;
  for (int64_t place = 0, rank = shape.size(); place < rank - count; ++place) {
    // The size of the one axis that is kept and has `place` kept ones before it.
    Expr size = Expr::constant(shape.front().context(), 0), before = size;
    for (auto [extent, isChosen] : zip_equal(shape, chosen)) {
      size = size + (1 - isChosen) * isValue(before, place) * extent;
      before = builder.define("before", before + 1 - isChosen);
    }
    kept.push_back(builder.define("kept", size, sym::Interval::size()));
  }
  return kept;
}

Tensor aroundAxis(Node &node, Tensor x, Expr axis) {
  ModelBuilder &builder = node.builder();
  std::optional<Shape> chosen = x ? chosenAxes(node, axis, x.rank()) : std::nullopt;
  if (!chosen)
    return {};
  Shape parts(3, builder.size(1));
  Expr before = builder.size(1); // 1 until the axis was met
  for (auto [size, isChosen] : zip_equal(x.shape(), *chosen)) {
    before = builder.define("is_before", before - isChosen, {0, 1});
    parts[0] = parts[0] * sizeIf(before, size);
    parts[1] = parts[1] * sizeIf(isChosen, size);
    parts[2] = parts[2] * sizeIf(1 - before - isChosen, size);
    for (Expr &part : parts)
      part = builder.define("part", part, sym::Interval::size());
  }
  return reshapeUnchecked(x, parts);
}

Tensor squeezeChosen(Node &node, Tensor x, ArrayRef<Expr> axes) {
  ModelBuilder &builder = node.builder();
  std::optional<Shape> chosen = chosenAxes(node, axes, x.rank());
  if (!chosen)
    return {};
  for (auto [size, isChosen] : zip_equal(x.shape(), *chosen))
    if (!builder.makeEqual(isChosen * (size - 1), builder.size(0), "dropped dimensions and 1"))
      return {};
  return reshapeUnchecked(x, withoutChosen(node, x.shape(), *chosen, axes.size()));
}

Tensor unsqueezeChosen(Node &node, Tensor x, ArrayRef<Expr> axes) {
  ModelBuilder &builder = node.builder();
  int64_t rank = x.rank() + axes.size();
  std::optional<Shape> chosen = chosenAxes(node, axes, rank);
  if (!chosen)
    return {};
  Shape shape;
  Expr before = builder.size(0);
  for (Expr isNew : *chosen) {
    Expr size = isNew;
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      size = size + (1 - isNew) * isValue(before, axis) * x.dim(axis);
    shape.push_back(builder.define("size", size, sym::Interval::size()));
    before = builder.define("before", before + 1 - isNew);
  }
  return reshapeUnchecked(x, shape);
}

} // namespace freestone::importer
