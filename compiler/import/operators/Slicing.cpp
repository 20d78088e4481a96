// Parts of tensors, and tensors with more around them.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/AxisValues.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// A bound of a slice as numpy reads it: negative ones count from the end, all are clamped to [low, high].
Expr normalizeBound(ModelBuilder &builder, Expr bound, Expr extent, Expr low, Expr high) {
  const sym::Bounds &bounds = builder.sizeFacts().bounds();
  if (std::optional<int64_t> value = bound.asConstant(); value && *value < 0)
    bound = bound + extent;
  else if (!value && bounds.provablyLT(bound, builder.size(0)))
    bound = bound + extent;
  else if (!value && !bounds.provablyNonNegative(bound))
    bound = bound + Expr::min(Expr::max(-bound, builder.size(0)), builder.size(1)) * extent;
  return bounds.simplify(Expr::max(low, Expr::min(bound, high)));
}

Tensor sliceAxis(Node &node, Tensor x, int64_t axis, Expr start, Expr end, int64_t step) {
  ModelBuilder &builder = node.builder();
  Expr extent = x.dim(axis), zero = builder.size(0);
  const sym::Bounds &bounds = builder.sizeFacts().bounds();
  auto farAway = [](Expr bound) {
    std::optional<int64_t> value = bound.asConstant();
    return value && (*value >= INT32_MAX || *value <= INT32_MIN) ? *value : 0;
  };
  // Very large ends mean "to the end", and are replaced by it, since sums with them would overflow.
  auto settle = [&](Expr bound) {
    int64_t far = farAway(bound);
    return far > 0 ? extent : far < 0 ? -extent - 1 : bound;
  };
  start = settle(start);
  end = settle(end);
  if (step > 0) {
    start = normalizeBound(builder, start, extent, zero, extent);
    end = normalizeBound(builder, end, extent, zero, extent);
  } else {
    // From the last element of none on there is nothing.
    start = normalizeBound(builder, start, extent, Expr::min(zero, extent - 1), extent - 1);
    end = normalizeBound(builder, end, extent, builder.size(-1), extent - 1);
  }
  Expr span = step > 0 ? end - start : start - end;
  Expr size = bounds.simplify(Expr::max(Expr::ceilDiv(span, std::abs(step)), zero));
  return slice(x, axis, start, size, step);
}

/// Slices along run-time axes or by run-time steps: every axis is read at start, start + step, ….
Tensor sliceByValues(Node &node, Tensor x, ArrayRef<Expr> starts, ArrayRef<Expr> ends, ArrayRef<Expr> axes,
                     ArrayRef<Expr> steps) {
  ModelBuilder &builder = node.builder();
  Expr zero = builder.size(0);
  if (!chosenAxes(node, axes, x.rank()))
    return {};
  Shape extents(x.shape());
  Shape first = valuesByAxis(node, axes, starts, Shape(x.rank(), zero)), last = valuesByAxis(node, axes, ends, extents),
        by = valuesByAxis(node, axes, steps, Shape(x.rank(), builder.size(1)));
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    Expr extent = extents[axis], reverse = builder.define("reverse", isNegative(by[axis]), {0, 1});
    auto place = [&](Expr bound, Expr low) {
      return Expr::max(low, Expr::min(bound + isNegative(bound) * extent, extent - reverse));
    };
    Expr start = builder.define("start", place(first[axis], Expr::min(zero, extent - reverse))),
         end = builder.define("end", place(last[axis], -reverse));
    Expr size = builder.define("size", Expr::max(Expr::ceilDiv(end - start, by[axis]), zero), sym::Interval::size());
    x = gather(x, iota(builder, {size}, 0, builder.getI64Type()) * by[axis] + start, axis);
    if (!x)
      return x;
  }
  return x;
}

Tensor sliceNode(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  std::optional<Shape> starts, ends;
  std::optional<SmallVector<int64_t>> axes, steps;
  if (node.opset() < 10) {
    starts = builder.sizes(node.integers("starts"));
    ends = builder.sizes(node.integers("ends"));
    axes = node.integers("axes");
  } else {
    starts = node.extentsInput(1);
    ends = node.extentsInput(2);
    std::optional<Shape> axisValues = node.has(3) ? node.sizesInput(3) : std::optional(Shape());
    std::optional<Shape> stepValues = node.has(4) ? node.sizesInput(4) : std::optional(Shape());
    if (!starts || !ends || !axisValues || !stepValues)
      return {};
    if (!areConstant(*axisValues) || !areConstant(*stepValues)) {
      if (axisValues->empty())
        for (size_t axis = 0; axis < starts->size(); ++axis)
          axisValues->push_back(builder.size(axis));
      if (stepValues->empty())
        stepValues = Shape(starts->size(), builder.size(1));
      if (starts->size() != ends->size() || starts->size() != axisValues->size() ||
          starts->size() != stepValues->size())
        return node.reject("starts, ends, axes and steps must have one length");
      return sliceByValues(node, x, *starts, *ends, *axisValues, *stepValues);
    }
    axes = node.has(3) ? node.constantsInput(3) : std::optional(SmallVector<int64_t>());
    steps = node.has(4) ? node.constantsInput(4) : std::optional(SmallVector<int64_t>());
  }
  if (!starts || !ends || !axes)
    return {};
  if (axes->empty())
    llvm::append_range(*axes, llvm::seq<int64_t>(0, starts->size()));
  if (!steps || steps->empty())
    steps = SmallVector<int64_t>(starts->size(), 1);
  if (starts->size() != ends->size() || starts->size() != axes->size() || starts->size() != steps->size())
    return node.reject("starts, ends, axes and steps must have one length");
  if (!node.normalize(*axes, x.rank()))
    return {};
  for (auto [axis, start, end, step] : zip_equal(*axes, *starts, *ends, *steps)) {
    if (step == 0)
      return node.reject("a step is 0");
    if (!x)
      return x;
    // INT64_MIN selects the same elements as its successor, which has an absolute value.
    x = sliceAxis(node, x, axis, start, end, std::max<int64_t>(step, -INT64_MAX));
  }
  return x;
}

/// The sizes of the parts of a split along a dimension of this extent.
std::optional<Shape> partSizes(Node &node, Expr extent) {
  ModelBuilder &builder = node.builder();
  if (node.opset() < 13 && node.hasAttribute("split"))
    return builder.sizes(node.integers("split"));
  if (node.has(1))
    return node.extentsInput(1);
  int64_t count = node.integer("num_outputs", node.outputCount());
  if (count < 1) {
    node.reject("num_outputs must be positive");
    return std::nullopt;
  }
  // All parts are equal but the last, which may be smaller.
  const sym::Bounds &bounds = builder.sizeFacts().bounds();
  Expr part = bounds.simplify(Expr::ceilDiv(extent, count));
  Shape parts(count, part);
  Expr rest = bounds.simplify(extent - part * (count - 1));
  if (!bounds.provablyNonNegative(rest)) {
    if (std::optional<Expr> exact = extent.exactDiv(builder.size(count)))
      return Shape(count, *exact);
    rest = Expr::max(rest, builder.size(0));
  }
  parts.back() = rest;
  return parts;
}

void split(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", 0), x.rank());
  std::optional<Shape> parts = axis ? partSizes(node, x.dim(*axis)) : std::nullopt;
  if (!parts)
    return;
  ModelBuilder &builder = node.builder();
  Expr start = builder.size(0);
  if (int64_t(parts->size()) != node.outputCount()) {
    node.reject("it has " + Twine(node.outputCount()) + " outputs for " + Twine(parts->size()) + " parts");
    return;
  }
  Expr total = start;
  for (Expr part : *parts)
    total = total + part;
  if (!builder.makeEqual(total, x.dim(*axis), "the sum of the parts and the size of what is split"))
    return;
  if (x.dim(*axis).isConstant(0))
    for (Expr &part : *parts)
      if (!builder.makeEqual(part, builder.size(0), "parts of nothing"))
        return;
  for (auto [index, part] : enumerate(*parts)) {
    node.setOutput(index, slice(x, *axis, start, part));
    start = start + part;
  }
}

/// Index tensors that extend a dimension by its edge, by reflection, or by wrapping around.
Tensor paddedByIndex(Node &node, Tensor x, int64_t axis, Expr low, Expr high, StringRef mode) {
  ModelBuilder &builder = node.builder();
  Expr extent = x.dim(axis);
  Tensor size = reshape(builder.vector(ArrayRef(extent)), {});
  Tensor place =
      iota(builder, {low + extent + high}, 0, builder.getI64Type()) - reshape(builder.vector(ArrayRef(low)), {});
  if (mode == "edge") {
    place = min(max(place, 0.0), size - 1.0);
  } else if (mode == "wrap") {
    place = binary(BinaryKind::mod, place, size);
  } else {
    // A triangle wave: 0 … extent-1 … 0 has the period 2 * (extent - 1); a single element repeats.
    Tensor period = max((size - 1.0) * 2.0, 1.0);
    place = binary(BinaryKind::mod, place, period);
    place = min(place, period - place);
    place = min(place, size - 1.0);
  }
  return gather(x, place, axis);
}

Tensor padNode(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  std::string mode = node.text("mode", "constant");
  std::optional<Shape> pads;
  Shape axes;
  Tensor value = builder.scalar(0, x.elementType());
  if (node.opset() < 11) {
    pads = builder.sizes(node.integers(node.hasAttribute("pads") ? "pads" : "paddings"));
    value = builder.scalar(node.real("value", 0), x.elementType());
  } else {
    pads = node.extentsInput(1);
    if (node.has(2))
      value = node.input(2);
    if (node.has(3)) {
      std::optional<Shape> given = node.sizesInput(3);
      if (!given || !chosenAxes(node, *given, x.rank()))
        return {};
      axes = *given;
    }
  }
  if (!pads || !value)
    return {};
  if (!node.has(3))
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      axes.push_back(builder.size(axis));
  if (pads->size() != 2 * axes.size())
    return node.reject("there must be two pads for each axis");
  Shape none(x.rank(), builder.size(0));
  Shape low = valuesByAxis(node, axes, ArrayRef(*pads).take_front(axes.size()), none);
  Shape high = valuesByAxis(node, axes, ArrayRef(*pads).drop_front(axes.size()), none);
  if (mode == "constant")
    return pad(x, low, high, value);
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return node.reject("the mode '" + mode + "' does not exist");
  for (int64_t axis = 0; x && axis < x.rank(); ++axis)
    if (!(low[axis].isConstant(0) && high[axis].isConstant(0)))
      x = paddedByIndex(node, x, axis, low[axis], high[axis], mode);
  return x;
}

Tensor trilu(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  if (x.rank() < 2)
    return node.reject("the input must have two dimensions or more");
  ModelBuilder &builder = node.builder();
  Tensor diagonal = node.has(1) ? node.input(1) : builder.integer(0);
  diagonal = diagonal ? cast(reshape(diagonal, {}), builder.getI64Type()) : diagonal;
  Shape plane(x.shape().take_back(2));
  Tensor row = iota(builder, plane, 0, builder.getI64Type()), column = iota(builder, plane, 1, builder.getI64Type());
  bool upper = node.integer("upper", 1);
  Tensor keep = upper ? column >= row + diagonal : column <= row + diagonal;
  if (x.isBool())
    return x & keep;
  return select(keep, x, 0.0);
}

Tensor tile(Node &node) {
  Tensor x = node.input(0);
  std::optional<Shape> repeats = node.extentsInput(1);
  if (!x || !repeats)
    return {};
  if (int64_t(repeats->size()) != x.rank())
    return node.reject("there must be one repeat for each axis");
  // Every dimension becomes two, of which the first is broadcast.
  Shape split, spread, merged;
  for (auto [repeat, extent] : zip_equal(*repeats, x.shape())) {
    split.append({node.builder().size(1), extent});
    spread.append({repeat, extent});
    merged.push_back(repeat * extent);
  }
  return reshape(broadcastTo(reshape(x, split), spread), merged);
}

} // namespace

void registerSlicing(Registry &registry) {
  registry.add("Slice", {1}, sliceNode);
  registry.addMany("Split", {2}, split);
  registry.add("Pad", {1}, padNode);
  registry.add("Trilu", {14}, trilu);
  registry.add("Tile", {6}, tile);
}

} // namespace freestone::importer
