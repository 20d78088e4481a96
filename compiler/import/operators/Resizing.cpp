// Resizing of images. Along each axis the output is a weighted sum of a few input positions, with weights that depend
// on sizes alone.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// How one axis is resized.
struct AxisScale {
  int64_t axis;
  /// The output's extent.
  Expr size;
  /// Output over input, as a scalar of f64.
  Tensor scale;
  /// Of `tf_crop_and_resize`: the part of the axis that is taken, in [0, 1].
  double start = 0, end = 1;
};

/// Scales that are multiples of one over this are exact, in floating point as in the arithmetic of sizes.
constexpr int64_t smallFraction = 64;

class Resizer {
public:
  Resizer(Node &node, Tensor x) : node(node), builder(node.builder()), x(x) {}

  Tensor run();

private:
  Tensor sizeScalar(Expr size) { return cast(reshape(builder.vector(ArrayRef(size)), {}), real); }
  std::optional<SmallVector<AxisScale>> readScales();
  bool readSizes(ArrayRef<int64_t> axes, SmallVector<AxisScale> &scales);
  void keepAspectRatio(ArrayRef<int64_t> axes, ArrayRef<Expr> sizes, bool takesLeast, SmallVector<AxisScale> &scales);
  Tensor coordinates(const AxisScale &axis);
  Tensor nearest(Tensor x, const AxisScale &axis);
  Tensor interpolate(Tensor x, const AxisScale &axis, ArrayRef<Tensor> weights, Tensor first);
  Tensor linear(Tensor x, const AxisScale &axis);
  Tensor cubic(Tensor x, const AxisScale &axis);

  Node &node;
  ModelBuilder &builder;
  Tensor x;
  mlir::Type real = builder.getF64Type();
};

bool Resizer::readSizes(ArrayRef<int64_t> axes, SmallVector<AxisScale> &scales) {
  std::optional<Shape> sizes = node.sizesInput(3);
  if (!sizes)
    return false;
  if (sizes->size() != axes.size())
    return node.reject("there must be one size for each axis"), false;
  std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller") {
    keepAspectRatio(axes, *sizes, policy == "not_larger", scales);
    return true;
  }
  if (policy != "stretch")
    return node.reject("the policy '" + policy + "' does not exist"), false;
  for (auto [axis, size] : zip_equal(axes, *sizes))
    if (size != x.dim(axis))
      scales.push_back({axis, size, sizeScalar(size) / sizeScalar(x.dim(axis))});
  return true;
}

/// All axes take the least scale or the largest; sizes are rounded to the nearest, halves up.
void Resizer::keepAspectRatio(ArrayRef<int64_t> axes, ArrayRef<Expr> sizes, bool takesLeast,
                              SmallVector<AxisScale> &scales) {
  Tensor scale;
  for (auto [axis, size] : zip_equal(axes, sizes)) {
    Tensor own = sizeScalar(size) / sizeScalar(x.dim(axis));
    scale = !scale ? own : takesLeast ? min(scale, own) : max(scale, own);
  }
  for (int64_t axis : axes) {
    Shape candidates;
    for (auto [other, size] : zip_equal(axes, sizes))
      candidates.push_back(Expr::floorDiv(size * x.dim(axis) * 2 + x.dim(other), x.dim(other) * 2));
    Expr size = takesLeast ? Expr::min(candidates) : Expr::max(candidates);
    scales.push_back({axis, builder.defineSize("size", size), scale});
  }
}

std::optional<SmallVector<AxisScale>> Resizer::readScales() {
  SmallVector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  SmallVector<AxisScale> result;
  if (!node.normalize(axes, x.rank()))
    return std::nullopt;
  bool isOld = node.opset() < 11;
  if (!isOld && node.has(3) && node.value(3).tensor && !node.value(3).tensor.elementCount().isConstant(0)) {
    if (!readSizes(axes, result))
      return std::nullopt;
  } else {
    Tensor scales = node.op() == "Upsample" && node.opset() < 9 ? Tensor() : node.input(isOld ? 1 : 2);
    SmallVector<double> values = node.reals("scales");
    if (scales) {
      if (!scales.constant())
        return node.refuse("the scales must be constant"), std::nullopt;
      for (const Element &element : *scales.constant())
        values.push_back(*element.asReal());
    }
    if (values.size() != axes.size())
      return node.reject("there must be one scale for each axis"), std::nullopt;
    for (auto [axis, value] : zip_equal(axes, values)) {
      if (value == 1)
        continue;
      // The output's extent is floor(extent * scale): of small fractions for every extent, of others for constant ones.
      std::optional<int64_t> extent = x.extent(axis);
      double numerator = value * smallFraction;
      if (!(value > 0) || (!extent && (numerator != std::trunc(numerator) || numerator > 1e6)))
        return node.refuse("a scale that is no multiple of 1/64 needs a constant size"), std::nullopt;
      Expr size = extent ? builder.size(int64_t(std::floor(double(*extent) * value)))
                         : Expr::floorDiv(x.dim(axis) * int64_t(numerator), smallFraction);
      result.push_back({axis, size, builder.scalar(value, real)});
    }
  }
  if (node.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") {
    Tensor roi = node.has(1) ? node.input(1) : Tensor();
    if (!roi || !roi.constant() || roi.constant()->size() != 2 * axes.size())
      return node.refuse("the region to crop must be constant"), std::nullopt;
    return node.refuse("cropping while resizing is not supported"), std::nullopt;
  }
  return result;
}

/// The input position of each output position.
Tensor Resizer::coordinates(const AxisScale &axis) {
  std::string mode = node.text("coordinate_transformation_mode", node.opset() < 11 ? "asymmetric" : "half_pixel");
  Tensor place = cast(iota(builder, {axis.size}, 0, builder.getI64Type()), real);
  Tensor input = sizeScalar(x.dim(axis.axis)), output = sizeScalar(axis.size);
  if (mode == "asymmetric")
    return place / axis.scale;
  if (mode == "align_corners")
    return select(equal(output, 1.0), 0.0, place * (input - 1.0) / max(output - 1.0, 1.0));
  if (mode == "pytorch_half_pixel")
    return select(output > 1.0, (place + 0.5) / axis.scale - 0.5, 0.0);
  if (mode == "half_pixel_symmetric") {
    Tensor adjustment = output / (axis.scale * input);
    Tensor offset = (input / 2.0) * (1.0 - adjustment);
    return offset + (place + 0.5) / axis.scale - 0.5;
  }
  if (mode == "half_pixel")
    return (place + 0.5) / axis.scale - 0.5;
  return node.refuse("the coordinate mode '" + mode + "' is not supported");
}

Tensor Resizer::nearest(Tensor x, const AxisScale &axis) {
  std::string rounding = node.text("nearest_mode", node.opset() < 11 ? "floor" : "round_prefer_floor");
  Tensor at = coordinates(axis);
  if (rounding == "floor")
    at = floor(at);
  else if (rounding == "ceil")
    at = ceil(at);
  else if (rounding == "round_prefer_ceil")
    at = floor(at + 0.5);
  else
    at = ceil(at - 0.5);
  Tensor last = sizeScalar(x.dim(axis.axis)) - 1.0;
  return gather(x, cast(min(max(at, 0.0), last), builder.getI64Type()), axis.axis);
}

/// The weighted sum of neighbours: `weights[k]` is that of position `first + k`, clamped to the edges.
Tensor Resizer::interpolate(Tensor x, const AxisScale &axis, ArrayRef<Tensor> given, Tensor first) {
  SmallVector<Tensor> weights(given);
  Tensor last = sizeScalar(x.dim(axis.axis)) - 1.0;
  if (node.integer("exclude_outside")) {
    Tensor total;
    for (auto [offset, weight] : enumerate(weights)) {
      Tensor place = first + double(offset);
      weight = select((place < 0.0) | (place > last), 0.0, weight);
      total = total ? total + weight : weight;
    }
    for (Tensor &weight : weights)
      weight = weight / total;
  }
  Tensor result;
  for (auto [offset, weight] : enumerate(weights)) {
    Tensor place = min(max(first + double(offset), 0.0), last);
    Tensor part = gather(x, cast(place, builder.getI64Type()), axis.axis);
    if (!part)
      return part;
    Shape spread(part.rank() - axis.axis, builder.size(1));
    spread.front() = axis.size;
    part = part * cast(reshape(weight, spread), x.elementType());
    result = result ? result + part : part;
  }
  return result;
}

Tensor Resizer::linear(Tensor x, const AxisScale &axis) {
  Tensor at = coordinates(axis);
  Tensor first = floor(at), fraction = at - first;
  return interpolate(x, axis, {1.0 - fraction, fraction}, first);
}

Tensor Resizer::cubic(Tensor x, const AxisScale &axis) {
  double a = node.real("cubic_coeff_a", -0.75);
  Tensor at = coordinates(axis);
  Tensor first = floor(at), t = at - first, s = 1.0 - t;
  auto near = [&](Tensor d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  auto far = [&](Tensor d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return interpolate(x, axis, {far(t + 1.0), near(t), near(s), far(s + 1.0)}, first - 1.0);
}

Tensor Resizer::run() {
  std::string mode = node.text("mode", "nearest");
  if (node.integer("antialias"))
    return node.refuse("resizing with antialiasing is not supported");
  std::optional<SmallVector<AxisScale>> scales = readScales();
  if (!scales)
    return {};
  mlir::Type type = x.elementType();
  bool isNearest = mode == "nearest";
  if (!isNearest && mode != "linear" && mode != "cubic" && mode != "bilinear")
    return node.reject("the mode '" + mode + "' does not exist");
  Tensor result = isNearest || x.isFloat() ? x : cast(x, builder.getF32Type());
  for (const AxisScale &axis : *scales) {
    if (!result)
      return result;
    result = isNearest ? nearest(result, axis) : mode == "cubic" ? cubic(result, axis) : linear(result, axis);
  }
  return cast(result, type);
}

Tensor resize(Node &node) {
  Tensor x = node.input(0);
  return x ? Resizer(node, x).run() : x;
}

} // namespace

void registerResizing(Registry &registry) {
  registry.add("Resize", {10}, resize);
  registry.add("Upsample", {7, 9}, resize);
}

} // namespace freestone::importer
