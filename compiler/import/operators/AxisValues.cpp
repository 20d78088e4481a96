#include "compiler/import/operators/AxisValues.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// The size where it is chosen, else 1; the other way around with 1 - chosen.
Expr sizeIf(Expr chosen, Expr size) { return chosen * (size - 1) + 1; }

} // namespace

Expr isValue(Expr expr, int64_t value) {
  Expr distance = Expr::max(expr - value, value - expr);
  return 1 - Expr::min(distance, Expr::constant(expr.context(), 1));
}

Expr isNegative(Expr expr) {
  return Expr::min(Expr::max(-expr, Expr::constant(expr.context(), 0)), Expr::constant(expr.context(), 1));
}

Shape valuesByAxis(ArrayRef<Expr> axes, ArrayRef<Expr> values, ArrayRef<Expr> otherwise) {
  int64_t rank = otherwise.size();
  Shape result(otherwise);
  for (auto [axis, value] : zip_equal(axes, values))
    for (auto [index, chosen] : enumerate(result)) {
      Expr hit = isValue(axis, index) + isValue(axis, int64_t(index) - rank);
      chosen = chosen + hit * (value - otherwise[index]);
    }
  return result;
}

std::optional<Shape> chosenAxes(Node &node, ArrayRef<Expr> axes, int64_t rank) {
  GraphBuilder &builder = node.builder();
  if (!llvm::all_of(axes, [](Expr axis) { return axis.isConstant(); })) {
    node.refuse("its axes are known only when it runs; make them a constant of the model");
    return std::nullopt;
  }
  Shape chosen;
  Expr found = builder.size(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    Expr hits = builder.size(0);
    for (Expr value : axes)
      hits = hits + isValue(value, axis) + isValue(value, axis - rank);
    chosen.push_back(axes.size() > 1 ? Expr::min(hits, builder.size(1)) : hits);
    found = found + chosen.back();
  }
  if (!builder.makeEqual(found, builder.size(axes.size()), "the number of axes, and of those that exist"))
    return std::nullopt;
  return builder.current(chosen);
}

Tensor splitAxes(Tensor x, ArrayRef<Expr> chosen) {
  if (!x)
    return x;
  Shape split;
  for (auto [size, isChosen] : zip_equal(x.shape(), chosen))
    split.append({sizeIf(1 - isChosen, size), sizeIf(isChosen, size)});
  return reshapeUnchecked(x, split);
}

Shape withoutChosen(ArrayRef<Expr> shape, ArrayRef<Expr> chosen, int64_t count) {
  Shape kept;
  for (int64_t place = 0, rank = shape.size(); place < rank - count; ++place) {
    // The size of the one axis that is kept and has `place` kept ones before it.
    Expr size = Expr::constant(shape.front().context(), 0), before = size;
    for (auto [extent, isChosen] : zip_equal(shape, chosen)) {
      size = size + (1 - isChosen) * isValue(before, place) * extent;
      before = before + 1 - isChosen;
    }
    kept.push_back(size);
  }
  return kept;
}

Tensor aroundAxis(Node &node, Tensor x, Expr axis) {
  GraphBuilder &builder = node.builder();
  std::optional<Shape> chosen = x ? chosenAxes(node, axis, x.rank()) : std::nullopt;
  if (!chosen)
    return {};
  Shape parts(3, builder.size(1));
  Expr before = builder.size(1); // 1 until the axis was met
  for (auto [size, isChosen] : zip_equal(x.shape(), *chosen)) {
    before = before - isChosen;
    parts[0] = parts[0] * sizeIf(before, size);
    parts[1] = parts[1] * sizeIf(isChosen, size);
    parts[2] = parts[2] * sizeIf(1 - before - isChosen, size);
  }
  return reshapeUnchecked(x, parts);
}

Tensor squeezeChosen(Node &node, Tensor x, ArrayRef<Expr> axes) {
  GraphBuilder &builder = node.builder();
  std::optional<Shape> chosen = chosenAxes(node, axes, x.rank());
  if (!chosen)
    return {};
  for (auto [size, isChosen] : zip_equal(x.shape(), *chosen))
    if (!builder.makeEqual(isChosen * (size - 1), builder.size(0), "dropped dimensions and 1"))
      return {};
  return reshapeUnchecked(x, withoutChosen(x.shape(), *chosen, axes.size()));
}

Tensor unsqueezeChosen(Node &node, Tensor x, ArrayRef<Expr> axes) {
  GraphBuilder &builder = node.builder();
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
    shape.push_back(size);
    before = before + 1 - isNew;
  }
  return reshapeUnchecked(x, shape);
}

} // namespace freestone::importer
