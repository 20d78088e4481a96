// Convolutions whose filters read pictures at places that data shift.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/SampledPictures.h"
#include "compiler/import/operators/WindowAttributes.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// A deformable convolution: the elements for every place of the filters are sampled, then contracted with these.
class DeformableConvolution {
public:
  explicit DeformableConvolution(Node &node) : node(node), builder(node.builder()) {}

  Tensor build();

private:
  bool read();
  Tensor places(int64_t axis);
  Tensor sample();

  Node &node;
  ModelBuilder &builder;
  Tensor x, filters, offsets, mask;
  Window window;
  int64_t groups = 1, offsetGroups = 1, axes = 0, taps = 1;
  Shape out;
  Expr positions;
  mlir::Type type;
};

bool DeformableConvolution::read() {
  x = node.input(0);
  filters = node.input(1);
  offsets = node.input(2);
  if (!x || !filters || !offsets || (node.has(4) && !(mask = node.input(4))))
    return false;
  axes = x.rank() - 2;
  groups = node.integer("group", 1);
  offsetGroups = node.integer("offset_group", 1);
  if (axes < 1 || filters.rank() != x.rank() || offsets.rank() != x.rank() || groups < 1 || offsetGroups < 1)
    return node.reject("the input, the filters and the offsets must have one rank, and groups must be positive"), false;
  SmallVector<int64_t> kernel;
  for (Expr extent : filters.shape().drop_front(2)) {
    if (!extent.isConstant())
      return node.refuse("the filters' spatial sizes must be constant"), false;
    kernel.push_back(*extent.asConstant());
    taps *= kernel.back();
  }
  std::optional<WindowAttributes> attributes = windowAttributes(node, x, kernel);
  if (!attributes)
    return false;
  window = attributes->window;
  positions = builder.size(1);
  for (int64_t axis = 0; axis < axes; ++axis) {
    Expr reach = builder.size(window.dilations[axis] * (kernel[axis] - 1) + 1);
    Expr room = x.dim(axis + 2) + window.low[axis] + window.high[axis] - reach;
    out.push_back(builder.defineSize("size", Expr::floorDiv(room, window.strides[axis]) + 1));
    positions = positions * out.back();
  }
  auto fit = [&](Tensor &tensor, int64_t channels, const char *what) {
    Shape expected = {x.dim(0), builder.size(channels)};
    llvm::append_range(expected, out);
    tensor = conform(tensor, expected, what);
    return bool(tensor);
  };
  type = x.elementType().isF64() ? x.elementType() : builder.getF32Type();
  return fit(offsets, offsetGroups * taps * axes, "the sizes of the offsets and of what the convolution gives") &&
         (!mask || fit(mask, offsetGroups * taps, "the sizes of the mask and of what the convolution gives"));
}

/// Where each place of the filter reads along an axis: [N · offset groups, taps · positions].
Tensor DeformableConvolution::places(int64_t axis) {
  mlir::Type i64 = builder.getI64Type();
  Shape split = {x.dim(0), builder.size(offsetGroups), builder.size(taps), builder.size(axes), positions};
  Tensor shift = slice(reshape(cast(offsets, type), split), 3, builder.size(axis), builder.size(1));
  // The axis' coordinate within the filter, and within the result.
  int64_t inner = 1;
  for (int64_t other = axis + 1; other < axes; ++other)
    inner *= window.sizes[other];
  SmallVector<double> filter;
  for (int64_t tap = 0; tap < taps; ++tap)
    filter.push_back(double(tap / inner % window.sizes[axis] * window.dilations[axis]));
  Tensor within = builder.fromContent(Content(filter.begin(), filter.end()), {builder.size(taps)}, type);
  Tensor result = reshape(iota(builder, out, axis, i64), {positions}) * double(window.strides[axis]) -
                  builder.integer(window.low[axis]);
  Expr one = builder.size(1);
  Tensor place = reshape(within, {builder.size(taps), one, one}) + cast(result, type) + shift;
  return reshape(place, {x.dim(0) * offsetGroups, positions * taps});
}

/// The elements as [N, channels, taps · positions], with the channels of one offset group side by side.
Tensor DeformableConvolution::sample() {
  std::optional<Expr> channels = x.dim(1).exactDiv(builder.size(offsetGroups));
  if (!channels)
    return node.reject("the number of channels is no multiple of the number of offset groups");
  Shape split = {x.dim(0) * offsetGroups, *channels}, extents(x.shape().drop_front(2));
  llvm::append_range(split, extents);
  SmallVector<SmallVector<Tap>> axesTaps;
  for (int64_t axis = 0; axis < axes; ++axis)
    axesTaps.push_back(linearTaps(places(axis), cast(builder.integer(extents[axis]), type)));
  SmallVector<Tap> all = combineTaps(node, extents, axesTaps);
  if (mask)
    for (Tap &tap : all)
      tap.weight = tap.weight * reshape(cast(mask, type), {x.dim(0) * offsetGroups, positions * taps});
  Tensor sampled = sampleSum(flattenPictures(reshape(x, split)), all);
  return reshape(transpose(sampled, {0, 2, 1}), {x.dim(0), x.dim(1), positions * taps});
}

Tensor DeformableConvolution::build() {
  if (!read())
    return {};
  std::optional<Expr> perGroup = x.dim(1).exactDiv(builder.size(groups)),
                      results = filters.dim(0).exactDiv(builder.size(groups));
  if (!perGroup || !results)
    return node.reject("the numbers of channels and of filters are no multiples of the number of groups");
  Tensor sampled = sample();
  Expr all = builder.size(groups), places = builder.size(taps);
  if (!sampled || !builder.makeEqual(filters.dim(1), *perGroup, "channels of the input and of the filters"))
    return {};
  sampled = reshape(sampled, {x.dim(0), all, *perGroup, places, positions});
  Tensor weights = reshape(cast(filters, type), {all, *results, *perGroup, places});
  // [groups, results, N, positions]
  Tensor y = contract(weights, sampled, {{0}, {1}, {2, 3}, {2, 3}});
  Shape shape = {x.dim(0), filters.dim(0)};
  llvm::append_range(shape, out);
  y = cast(reshape(transpose(y, {2, 0, 1, 3}), shape), x.elementType());
  Tensor bias = node.optionalInput(3);
  if (!bias)
    return y;
  if (bias.rank() != 1)
    return node.reject("the bias must be a vector");
  Shape spread(axes + 1, builder.size(1));
  spread.front() = bias.dim(0);
  return y + reshape(bias, spread);
}

} // namespace

void registerDeformableConvolution(Registry &registry) {
  registry.add("DeformConv", {19}, [](Node &node) { return DeformableConvolution(node).build(); });
}

} // namespace freestone::importer
