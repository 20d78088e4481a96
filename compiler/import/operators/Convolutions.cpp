// Convolutions, forward and transposed.
#include "compiler/expressions/IntegerProducts.h"
#include "compiler/import/Registry.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/QuantizedValues.h"
#include "compiler/import/operators/WindowAttributes.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// The filters' spatial extents, which must be constant.
std::optional<SmallVector<int64_t>> kernelOf(Node &node, Tensor x, Tensor w) {
  if (x.rank() != w.rank() || x.rank() < 3) {
    node.reject("the input has rank " + Twine(x.rank()) + ", the filters have rank " + Twine(w.rank()));
    return std::nullopt;
  }
  SmallVector<int64_t> kernel;
  for (int64_t axis = 2; axis < w.rank(); ++axis) {
    std::optional<int64_t> extent = w.extent(axis);
    if (!extent) {
      node.refuse("the filters' spatial sizes must be constant");
      return std::nullopt;
    }
    kernel.push_back(*extent);
  }
  SmallVector<int64_t> named = node.integers("kernel_shape");
  if (!named.empty() && named != kernel) {
    node.reject("the attribute 'kernel_shape' differs from the filters' shape");
    return std::nullopt;
  }
  return kernel;
}

/// The number that all elements are, if they are made of one.
Tensor numberOfAll(Tensor x) {
  if (const Content *content = x.constant()) {
    auto isFirst = [&](const Element &element) { return element.asReal() == content->front().asReal(); };
    bool isOne = !content->empty() && llvm::all_of(*content, isFirst);
    return isOne ? x.builder().fromContent({content->front()}, {}, x.elementType()) : Tensor();
  }
  auto constant = x.value().getDefiningOp<graph::ConstantOp>();
  auto splat = constant ? dyn_cast<mlir::SplatElementsAttr>(constant.getValue()) : nullptr;
  return splat ? x.builder().emit<graph::ConstantOp>(graph::TensorType::get({}, x.elementType()), splat) : Tensor();
}

Tensor withBias(Node &node, Tensor y, int64_t input) {
  Tensor bias = node.optionalInput(input);
  if (!node.has(input) || !bias || !y)
    return y;
  // PyTorch writes the bias that a Conv3d doesn't have as a matrix of zeros.
  if (Tensor number = bias.rank() != 1 ? numberOfAll(bias) : Tensor())
    return y + number;
  if (bias.rank() != 1)
    return node.reject("the bias must be a vector, but has the rank " + Twine(bias.rank()));
  Shape shape(y.rank() - 1, node.builder().size(1));
  shape.front() = bias.dim(0);
  return y + reshape(bias, shape);
}

Tensor conv(Node &node, Tensor x, Tensor w) {
  if (!x || !w)
    return {};
  std::optional<SmallVector<int64_t>> kernel = kernelOf(node, x, w);
  std::optional<WindowAttributes> attributes = kernel ? windowAttributes(node, x, *kernel) : std::nullopt;
  if (!attributes)
    return {};
  SmallVector<int64_t> undilated(kernel->size(), 1);
  int64_t groups = node.integer("group", 1);
  if (groups > 1 && w.extent(0) && *w.extent(0) % groups)
    return node.reject("the number of filters is no multiple of the number of groups");
  return convolve(x, w, attributes->window, undilated, groups);
}

/// Filters of a transposed convolution, [C, O/groups, spatial…], as those of a convolution, [O, C/groups, spatial…],
/// mirrored.
Tensor transposedFilters(Node &node, Tensor w, int64_t groups) {
  ModelBuilder &builder = node.builder();
  std::optional<Expr> perGroup = w.dim(0).exactDiv(builder.size(groups));
  if (!perGroup)
    return node.reject("the number of channels is no multiple of the number of groups");
  Shape split = {builder.size(groups), *perGroup};
  llvm::append_range(split, w.shape().drop_front());
  SmallVector<int64_t> permutation = {0, 2, 1};
  Shape merged = {w.dim(1) * groups, *perGroup};
  for (int64_t axis = 2; axis < w.rank(); ++axis) {
    permutation.push_back(axis + 1);
    merged.push_back(w.dim(axis));
  }
  Tensor swapped = reshape(transpose(reshape(w, split), permutation), merged);
  for (int64_t axis = 2; swapped && axis < w.rank(); ++axis)
    swapped = slice(swapped, axis, w.dim(axis) - 1, w.dim(axis), -1);
  return swapped;
}

/// Low and high padding of the output of a transposed convolution, whose full extent is `full`.
std::optional<std::pair<Expr, Expr>> transposedPads(Node &node, int64_t axis, int64_t spatial, Expr input, Expr full,
                                                    int64_t stride, int64_t outputPadding) {
  ModelBuilder &builder = node.builder();
  SmallVector<int64_t> wanted = node.integers("output_shape"), pads = node.integers("pads");
  std::string autoPad = node.text("auto_pad", "NOTSET");
  Expr total;
  if (!wanted.empty()) {
    if (int64_t(wanted.size()) < spatial) {
      node.reject("output_shape has too few sizes");
      return std::nullopt;
    }
    total = full + outputPadding - wanted[wanted.size() - spatial + axis];
  } else if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    total = full + outputPadding - input * stride;
  } else if (autoPad == "VALID" || pads.empty()) {
    return std::pair(builder.size(0), builder.size(0));
  } else if (int64_t(pads.size()) != 2 * spatial) {
    node.reject("the attribute 'pads' does not fit the input");
    return std::nullopt;
  } else {
    return std::pair(builder.size(pads[axis]), builder.size(pads[axis + spatial]));
  }
  Expr half = Expr::floorDiv(total, 2);
  return autoPad == "SAME_UPPER" ? std::pair(half, total - half) : std::pair(total - half, half);
}

Tensor convTranspose(Node &node) {
  Tensor x = node.input(0), w = node.input(1);
  if (!x || !w)
    return {};
  std::optional<SmallVector<int64_t>> kernel = kernelOf(node, x, w);
  int64_t groups = node.integer("group", 1), spatial = x.rank() - 2;
  if (!kernel || groups < 1)
    return {};
  auto list = [&](StringRef name, int64_t otherwise) {
    SmallVector<int64_t> values = node.integers(name);
    values.resize(spatial, otherwise);
    return values;
  };
  SmallVector<int64_t> strides = list("strides", 1), dilations = list("dilations", 1),
                       extra = list("output_padding", 0);
  Window window;
  window.strides.assign(spatial, 1);
  window.dilations = dilations;
  for (int64_t axis = 0; axis < spatial; ++axis) {
    int64_t reach = ((*kernel)[axis] - 1) * dilations[axis];
    Expr full = (x.dim(axis + 2) - 1) * strides[axis] + reach + 1;
    auto pads = transposedPads(node, axis, spatial, x.dim(axis + 2), full, strides[axis], extra[axis]);
    if (!pads)
      return {};
    window.low.push_back(reach - pads->first);
    window.high.push_back(reach - pads->second + extra[axis]);
  }
  Tensor filters = transposedFilters(node, w, groups);
  return withBias(node, convolve(x, filters, window, strides, groups), 2);
}

/// The convolution of x - zeroX with w - zeroW in i32, of 8-bit integers. Zero points are null, a single one, or one
/// for each filter. In several groups it is a convolution of wide integers.
Tensor convolveCentered(Node &node, Tensor x, Tensor zeroX, Tensor w, Tensor zeroW) {
  std::optional<SmallVector<int64_t>> kernel = x && w ? kernelOf(node, x, w) : std::nullopt;
  std::optional<WindowAttributes> attributes = kernel ? windowAttributes(node, x, *kernel) : std::nullopt;
  if (!attributes)
    return {};
  ModelBuilder &builder = node.builder();
  mlir::Type wide = builder.getI32Type();
  if (zeroX)
    zeroX = cast(reshape(zeroX, {}), wide);
  if (zeroW) {
    Shape shape(w.rank(), builder.size(1));
    shape[0] = zeroW.rank() == 0 ? builder.size(1) : zeroW.dim(0);
    zeroW = cast(zeroW.elementCount().isConstant(1) ? reshape(zeroW, {}) : reshape(zeroW, shape), wide);
  }
  if (node.integer("group", 1) == 1)
    return expressions::convolveCentered({x, zeroX}, {w, zeroW}, attributes->window);
  Tensor left = cast(x, wide), right = cast(w, wide);
  return conv(node, zeroX ? left - zeroX : left, zeroW ? right - zeroW : right);
}

Tensor convInteger(Node &node) {
  Tensor zeroX = node.optionalInput(2), zeroW = node.optionalInput(3);
  if ((node.has(2) && !zeroX) || (node.has(3) && !zeroW))
    return {};
  return convolveCentered(node, node.input(0), zeroX, node.input(1), zeroW);
}

/// Quantised tensors: x, the filters, and the result, with a bias in i32.
Tensor qlinearConv(Node &node) {
  std::optional<QuantizedValue> x = quantizedInput(node, 0), w = x ? quantizedInput(node, 3) : std::nullopt;
  if (!w)
    return {};
  mlir::Type f32 = node.builder().getF32Type();
  Tensor sums = withBias(node, convolveCentered(node, x->integers, x->zeroPoint, w->integers, w->zeroPoint), 8);
  if (!sums)
    return {};
  Tensor scale = cast(w->scale, f32);
  if (scale.rank() > 0) {
    Shape shape(sums.rank() - 1, node.builder().size(1));
    shape.front() = scale.dim(0);
    scale = reshape(scale, shape);
  }
  Tensor target = node.optionalInput(7);
  return quantizeAs(node, cast(sums, f32) * (cast(x->scale, f32) * scale), 6,
                    target ? target.elementType() : x->integers.elementType());
}

} // namespace

void registerConvolutions(Registry &registry) {
  registry.add("Conv", {1}, [](Node &node) { return withBias(node, conv(node, node.input(0), node.input(1)), 2); });
  registry.add("com.microsoft.FusedConv", {1}, [](Node &node) {
    Tensor y = withBias(node, conv(node, node.input(0), node.input(1)), 2);
    return activate(node, node.has(3) && y ? y + node.input(3) : y);
  });
  registry.add("ConvTranspose", {1}, convTranspose);
  registry.add("ConvInteger", {10}, convInteger);
  registry.add("QLinearConv", {10}, qlinearConv);
}

} // namespace freestone::importer
