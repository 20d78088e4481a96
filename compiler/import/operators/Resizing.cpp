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
  /// Output over input, as a scalar of f64; stated by the model, or the quotient of the sizes.
  Tensor scale;
  bool isStated = false;
  /// Of `tf_crop_and_resize`: the part of the axis that is taken, in [0, 1], as scalars of f64; else null.
  Tensor start = {}, end = {};
};

/// Keys' cubic, at a distance of at most 1, and from there to 2.
Tensor nearWeight(Tensor distance, double a) { return ((a + 2) * distance - (a + 3)) * distance * distance + 1.0; }
Tensor farWeight(Tensor distance, double a) { return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a; }

/// A fraction above / below.
using Fraction = std::pair<int64_t, int64_t>;

/// The simplest fraction that rounds to a scale in f32, by continued fractions: 0.7 states 7/10, so that ten elements
/// become seven, and 6.05405 may state 224/37. None where no denominator is small enough to be told from its
/// neighbours.
std::optional<Fraction> statedFraction(double scale) {
  constexpr int64_t largestBelow = 1 << 12, largestAbove = int64_t(1) << 32;
  Fraction last(0, 1), next(1, 0);
  for (double rest = scale; rest < double(largestAbove);) {
    int64_t whole = int64_t(std::floor(rest));
    Fraction convergent(whole * next.first + last.first, whole * next.second + last.second);
    last = next;
    next = convergent;
    auto [above, below] = next;
    if (below > largestBelow || above > largestAbove)
      break;
    if (float(double(above) / double(below)) == float(scale))
      return next;
    rest = 1 / (rest - double(whole));
  }
  return std::nullopt;
}

class Resizer {
public:
  Resizer(Node &node, Tensor x) : node(node), builder(node.builder()), x(x) {}

  Tensor run();

private:
  Tensor sizeScalar(Expr size) { return cast(reshape(builder.vector(ArrayRef(size)), {}), real); }
  std::optional<SmallVector<AxisScale>> readScales();
  std::optional<Expr> scaledSize(Expr extent, const Element &scale);
  bool readFactors(ArrayRef<int64_t> axes, SmallVector<AxisScale> &scales);
  bool readRegion(ArrayRef<int64_t> axes, bool isScaled, SmallVector<AxisScale> &scales);
  bool readSizes(ArrayRef<int64_t> axes, SmallVector<AxisScale> &scales);
  void keepAspectRatio(ArrayRef<int64_t> axes, ArrayRef<Expr> sizes, bool takesLeast, SmallVector<AxisScale> &scales);
  Tensor coordinates(const AxisScale &axis);
  Tensor inCrop(Tensor y, const AxisScale &axis);
  std::optional<int64_t> getTimes(const AxisScale &axis, StringRef rounding);
  Tensor nearest(Tensor x, const AxisScale &axis);
  Tensor interpolate(Tensor x, const AxisScale &axis, ArrayRef<Tensor> weights, Tensor first);
  Tensor linear(Tensor x, const AxisScale &axis);
  Tensor cubic(Tensor x, const AxisScale &axis);
  Tensor antialiased(Tensor x, const AxisScale &axis);
  Tensor weigh(Tensor distance);

  Node &node;
  ModelBuilder &builder;
  Tensor x;
  mlir::Type real = builder.getF64Type();
  std::string mode = node.text("mode", "nearest");
  bool crops = node.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
};

bool Resizer::readSizes(ArrayRef<int64_t> axes, SmallVector<AxisScale> &scales) {
  std::optional<Shape> sizes = node.extentsInput(3);
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
    if (size != x.dim(axis) || crops)
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

/// floor(extent · scale), for what a scale states. Others, as f32 has them, are fractions over a power of two.
std::optional<Expr> Resizer::scaledSize(Expr extent, const Element &scale) {
  if (!scale.asReal()) {
    auto [above, below] = scale.isFraction() ? std::pair(scale.getNumerator(), scale.getDenominator())
                                             : std::pair(scale.asExpr(), builder.size(1));
    return builder.defineSize("size", Expr::floorDiv(extent * above, below));
  }
  double value = *scale.asReal();
  if (!(value > 0))
    return node.reject("a scale is not positive"), std::nullopt;
  std::optional<Fraction> stated = statedFraction(value);
  if (std::optional<int64_t> constant = extent.asConstant()) {
    double size = std::floor(stated ? double(*constant) * stated->first / stated->second : double(*constant) * value);
    if (!(size < 0x1p62))
      return node.reject("a scale is too large"), std::nullopt;
    return builder.size(int64_t(size));
  }
  if (stated)
    return Expr::floorDiv(extent * stated->first, stated->second);
  int64_t below = 1;
  constexpr int64_t finest = int64_t(1) << 32;
  while (value != std::trunc(value) && below < finest) {
    value *= 2;
    below *= 2;
  }
  if (value != std::trunc(value) || value > double(finest))
    return node.refuse("a scale of more than 2^32 or less than 2^-8 needs a constant size"), std::nullopt;
  return Expr::floorDiv(extent * int64_t(value), below);
}

bool Resizer::readFactors(ArrayRef<int64_t> axes, SmallVector<AxisScale> &result) {
  bool isAttribute = node.op() == "Upsample" && node.opset() < 9;
  SmallVector<double> stated = node.reals("scales");
  Content elements(stated.begin(), stated.end());
  Tensor scales = isAttribute ? Tensor() : node.input(node.opset() < 11 ? 1 : 2);
  if (scales && !scales.content())
    return node.refuse("the scales are computed from data"), false;
  if (scales)
    elements = *scales.content();
  if (elements.size() != axes.size())
    return node.reject("there must be one scale for each axis"), false;
  for (auto [index, axis] : enumerate(axes)) {
    if (elements[index].asReal() == 1 && !crops)
      continue;
    std::optional<Expr> size = scaledSize(x.dim(axis), elements[index]);
    if (!size)
      return false;
    std::optional<double> number = elements[index].asReal();
    if (std::optional<Fraction> stated = number ? statedFraction(*number) : std::nullopt)
      number = double(stated->first) / double(stated->second);
    Tensor scale = number ? builder.scalar(*number, real)
                          : cast(reshape(slice(scales, 0, builder.size(index), builder.size(1)), {}), real);
    result.push_back({axis, *size, scale, /*isStated=*/true});
  }
  return true;
}

/// The region to crop, which may be given at run time where sizes are.
bool Resizer::readRegion(ArrayRef<int64_t> axes, bool isScaled, SmallVector<AxisScale> &scales) {
  Tensor region = node.input(1);
  if (!region)
    return false;
  if (region.rank() != 1 || region.extent(0) != 2 * int64_t(axes.size()))
    return node.reject("the region to crop must have a start and an end for each axis"), false;
  auto number = [&](int64_t index) {
    return cast(reshape(slice(region, 0, builder.size(index), builder.size(1)), {}), real);
  };
  SmallVector<AxisScale> cropped;
  for (auto [index, axis] : enumerate(axes)) {
    auto scale = llvm::find_if(scales, [&](const AxisScale &other) { return other.axis == axis; });
    if (scale == scales.end())
      continue;
    scale->start = number(index);
    scale->end = number(index + axes.size());
    if (!scale->start || !scale->end)
      return false;
    const Content *first = scale->start.constant(), *last = scale->end.constant();
    bool isKnown = first && last;
    if (isScaled && !isKnown)
      return node.refuse("the region to crop must be constant where scales give the size; give sizes"), false;
    double part = isKnown ? *last->front().asReal() - *first->front().asReal() : 1;
    if (isScaled && part != 1) {
      const Content *factor = scale->scale.constant();
      std::optional<Expr> size =
          factor ? scaledSize(x.dim(axis), *factor->front().asReal() * part)
                 : (node.refuse("the scales must be constant where a region is cropped; give sizes"), std::nullopt);
      if (!size)
        return false;
      scale->size = *size;
    }
    bool isWhole = isKnown && first->front().asReal() == 0 && last->front().asReal() == 1;
    if (!isWhole || scale->size != x.dim(axis))
      cropped.push_back(*scale);
  }
  scales = cropped;
  return true;
}

std::optional<SmallVector<AxisScale>> Resizer::readScales() {
  SmallVector<int64_t> axes = node.integers("axes");
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  SmallVector<AxisScale> result;
  if (!node.normalize(axes, x.rank()))
    return std::nullopt;
  bool hasSizes =
      node.opset() >= 11 && node.has(3) && node.value(3).tensor && !node.value(3).tensor.elementCount().isConstant(0);
  bool isRead = hasSizes ? readSizes(axes, result) : readFactors(axes, result);
  if (!isRead || (crops && !readRegion(axes, !hasSizes, result)))
    return std::nullopt;
  return result;
}

/// The input position of each output position.
Tensor Resizer::coordinates(const AxisScale &axis) {
  std::string mapping = node.text("coordinate_transformation_mode", node.opset() < 11 ? "asymmetric" : "half_pixel");
  Tensor place = cast(iota(builder, {axis.size}, 0, builder.getI64Type()), real);
  Tensor input = sizeScalar(x.dim(axis.axis)), output = sizeScalar(axis.size);
  if (mapping == "asymmetric")
    return place / axis.scale;
  if (mapping == "align_corners") {
    // ONNX's test cases take the length that a scale gives before it is rounded.
    Tensor length = axis.isStated ? axis.scale * input : output, isOne = equal(length, 1.0);
    return select(isOne, 0.0, place * (input - 1.0) / select(isOne, 1.0, length - 1.0));
  }
  if (mapping == "pytorch_half_pixel")
    return select(output > 1.0, (place + 0.5) / axis.scale - 0.5, 0.0);
  if (mapping == "half_pixel_symmetric") {
    Tensor adjustment = output / (axis.scale * input);
    Tensor offset = (input / 2.0) * (1.0 - adjustment);
    return offset + (place + 0.5) / axis.scale - 0.5;
  }
  if (mapping == "half_pixel")
    return (place + 0.5) / axis.scale - 0.5;
  if (mapping == "tf_crop_and_resize") {
    Tensor last = input - 1.0, part = (axis.end - axis.start) * last;
    return axis.start * last + select(output > 1.0, place * part / max(output - 1.0, 1.0), part / 2.0);
  }
  return node.reject("the coordinate mode '" + mapping + "' does not exist");
}

/// What lies outside of the input is the value to extrapolate with.
Tensor Resizer::inCrop(Tensor y, const AxisScale &axis) {
  if (!axis.start || !y)
    return y;
  Tensor at = coordinates(axis);
  Shape spread(y.rank() - axis.axis, builder.size(1));
  spread.front() = axis.size;
  Tensor isInside = reshape((at >= 0.0) & (at <= sizeScalar(x.dim(axis.axis)) - 1.0), spread);
  return select(isInside, y, node.real("extrapolation_value", 0));
}

/// How often each element is repeated, where all are equally often, a few times: neighbours then, which no table of
/// indices tells.
std::optional<int64_t> Resizer::getTimes(const AxisScale &axis, StringRef rounding) {
  constexpr int64_t mostTimes = 4;
  std::string mapping = node.text("coordinate_transformation_mode", node.opset() < 11 ? "asymmetric" : "half_pixel");
  bool isCentred = is_contained({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"}, mapping);
  bool isEqual = mapping == "asymmetric" ? rounding == "floor" : isCentred && rounding.starts_with("round_");
  if (!isEqual || axis.start)
    return std::nullopt;
  const Content *scale = axis.scale.constant();
  bool isQuotient = !axis.isStated && node.text("keep_aspect_ratio_policy", "stretch") == "stretch";
  for (int64_t times = 2; times <= mostTimes; ++times)
    if (axis.size == x.dim(axis.axis) * times && (scale ? scale->front().asReal() == double(times) : isQuotient))
      return times;
  return std::nullopt;
}

Tensor Resizer::nearest(Tensor x, const AxisScale &axis) {
  std::string rounding = node.text("nearest_mode", node.opset() < 11 ? "floor" : "round_prefer_floor");
  if (std::optional<int64_t> times = getTimes(axis, rounding)) {
    Shape shape(x.shape()), repeated(shape);
    repeated.insert(repeated.begin() + axis.axis + 1, builder.size(*times));
    shape[axis.axis] = axis.size;
    return reshape(repeat(x, repeated, {axis.axis + 1}), shape);
  }
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
  return interpolate(x, axis, {farWeight(t + 1.0, a), nearWeight(t, a), nearWeight(s, a), farWeight(s + 1.0, a)},
                     first - 1.0);
}

/// The filter at a distance in elements of the result.
Tensor Resizer::weigh(Tensor distance) {
  if (mode == "cubic") {
    double a = node.real("cubic_coeff_a", -0.75);
    return select(distance <= 1.0, nearWeight(distance, a), select(distance < 2.0, farWeight(distance, a), 0.0));
  }
  return max(1.0 - distance, 0.0);
}

/// A filter as wide as the elements of the result, where these are wider than those of the input. A few neighbours are
/// gathered each; more, or an unknown number, are a product with the matrix of all weights.
Tensor Resizer::antialiased(Tensor x, const AxisScale &axis) {
  constexpr int64_t mostGathered = 16;
  int64_t reach = mode == "cubic" ? 2 : 1;
  Tensor at = coordinates(axis), narrow = min(axis.scale, 1.0);
  std::optional<double> scale = narrow.constant() ? narrow.constant()->front().asReal() : std::nullopt;
  if (scale && reach / *scale < mostGathered / 2) {
    Tensor first = floor(at);
    SmallVector<Tensor> weights;
    Tensor total;
    int64_t begin = int64_t(std::floor(-reach / *scale)) + 1;
    for (int64_t offset = begin; offset < 2 - begin; ++offset) {
      weights.push_back(weigh(abs(first + double(offset) - at) * narrow));
      total = total ? total + weights.back() : weights.back();
    }
    for (Tensor &weight : weights)
      weight = weight / total;
    return interpolate(x, axis, weights, first + double(begin));
  }
  // Weights for the input with its edges repeated, as far as the filter reaches.
  Expr extent = x.dim(axis.axis), none = builder.size(0), one = builder.size(1);
  Expr edge = builder.defineSize("edge", Expr::ceilDiv(extent * reach, Expr::max(axis.size, one)) + reach);
  Tensor column = cast(iota(builder, {edge * 2 + extent}, 0, builder.getI64Type()) - builder.integer(edge), real);
  Tensor weights = weigh(abs(column - unsqueeze(at, {1})) * narrow);
  Tensor inside = slice(weights, 1, edge, extent);
  if (node.integer("exclude_outside")) {
    inside = inside / sum(inside, {1}, true);
  } else {
    Tensor position = iota(builder, {extent}, 0, builder.getI64Type());
    Tensor before = sum(slice(weights, 1, none, edge), {1}, true),
           behind = sum(slice(weights, 1, edge + extent, edge), {1}, true);
    inside = inside + select(equal(position, 0.0), before, 0.0) +
             select(equal(position, builder.integer(extent - one)), behind, 0.0);
    inside = inside / sum(weights, {1}, true);
  }
  Tensor product = contract(cast(inside, x.elementType()), x, {{}, {}, {1}, {axis.axis}});
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    order.push_back(dim < axis.axis ? dim + 1 : dim == axis.axis ? 0 : dim);
  return transpose(product, order);
}

Tensor Resizer::run() {
  bool isNearest = mode == "nearest", smooths = node.integer("antialias");
  if (!isNearest && mode != "linear" && mode != "cubic" && mode != "bilinear")
    return node.reject("the mode '" + mode + "' does not exist");
  if (isNearest && smooths)
    return node.reject("antialiasing needs the mode linear or cubic");
  std::optional<SmallVector<AxisScale>> scales = readScales();
  if (!scales)
    return {};
  mlir::Type type = x.elementType();
  Tensor result = isNearest || x.isFloat() ? x : cast(x, builder.getF32Type());
  for (const AxisScale &axis : *scales) {
    if (!result)
      return result;
    result = isNearest         ? nearest(result, axis)
             : smooths         ? antialiased(result, axis)
             : mode == "cubic" ? cubic(result, axis)
                               : linear(result, axis);
    result = inCrop(result, axis);
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
