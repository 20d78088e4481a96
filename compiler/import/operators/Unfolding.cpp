// What windows took, put back to its places: the inverses of poolings and of the columns of convolutions.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/WindowAttributes.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Expr productOf(ModelBuilder &builder, ArrayRef<Expr> sizes) {
  Expr product = builder.size(1);
  for (Expr size : sizes)
    product = product * size;
  return product;
}

/// The elements at positions within what the pooling took them from, zeros elsewhere.
Tensor maxUnpool(Node &node) {
  Tensor x = node.input(0), positions = node.input(1);
  if (!x || !positions)
    return {};
  ModelBuilder &builder = node.builder();
  std::optional<WindowAttributes> attributes = windowAttributes(node, x, {});
  if (!attributes)
    return {};
  const Window &window = attributes->window;
  Shape pooled(x.shape());
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    pooled[axis] = builder.defineSize("size", (x.dim(axis) - 1) * window.strides[axis - 2] + window.sizes[axis - 2] -
                                                  window.low[axis - 2] - window.high[axis - 2]);
  positions = conform(positions, x.shape(), "the shapes of elements and of their positions");
  if (!positions)
    return {};
  Shape flat = {x.elementCount()};
  Tensor zeros = builder.splat(0, x.elementType(), {productOf(builder, pooled)});
  Tensor y = scatterElements(zeros, reshape(positions, flat), reshape(x, flat), 0, graph::ScatterKind::none);
  y = reshape(y, pooled);
  if (!node.has(2))
    return y;
  std::optional<Shape> wanted = node.sizesInput(2);
  if (!wanted || wanted->size() != pooled.size())
    return wanted ? node.reject("the output's shape must have one size for each dimension of the input") : Tensor();
  Shape low(x.rank(), builder.size(0)), high;
  for (auto [size, before] : zip_equal(*wanted, pooled))
    high.push_back(size - before);
  return y ? pad(y, low, high, 0.0) : y;
}

/// The columns of a convolution, added up to the picture that they were taken from.
class ColumnSum {
public:
  explicit ColumnSum(Node &node) : node(node), builder(node.builder()) {}

  Tensor build();

private:
  bool read();
  Tensor sumOfPads(ArrayRef<int64_t> constant);
  Tensor sumByScatter();

  Node &node;
  ModelBuilder &builder;
  Tensor columns;
  Shape image, block, counts, padded;
  SmallVector<int64_t> dilations, pads, strides;
  Expr channels;
};

bool ColumnSum::read() {
  columns = node.input(0);
  std::optional<Shape> imageShape = node.sizesInput(1), blockShape = imageShape ? node.sizesInput(2) : std::nullopt;
  if (!columns || !blockShape)
    return false;
  image = *imageShape;
  block = *blockShape;
  int64_t axes = image.size();
  auto list = [&](StringRef name, int64_t count, int64_t otherwise) {
    SmallVector<int64_t> values = node.integers(name);
    if (values.empty())
      values.assign(count, otherwise);
    return values;
  };
  dilations = list("dilations", axes, 1);
  pads = list("pads", 2 * axes, 0);
  strides = list("strides", axes, 1);
  auto arePositive = [](ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t value) { return value >= 1; });
  };
  if (columns.rank() != 3 || int64_t(block.size()) != axes || int64_t(dilations.size()) != axes ||
      int64_t(strides.size()) != axes || int64_t(pads.size()) != 2 * axes || !arePositive(dilations) ||
      !arePositive(strides))
    return node.reject("the columns must have the shape [N, C · block, L], and the other inputs and the attributes one "
                       "number for each axis of the image"),
           false;
  for (int64_t axis = 0; axis < axes; ++axis) {
    padded.push_back(image[axis] + (pads[axis] + pads[axis + axes]));
    Expr room = padded.back() - (block[axis] - 1) * dilations[axis] - 1;
    counts.push_back(builder.defineSize("size", Expr::floorDiv(room, strides[axis]) + 1));
  }
  Expr taps = productOf(builder, block);
  channels = builder.defineSize("channels", Expr::floorDiv(columns.dim(1), taps));
  return builder.makeEqual(columns.dim(1), channels * taps, "rows of the columns, and channels times the block") &&
         builder.makeEqual(columns.dim(2), productOf(builder, counts), "columns, and places of the block in the image");
}

/// For a known block: each of its elements goes to every `stride`th place of the image.
Tensor ColumnSum::sumOfPads(ArrayRef<int64_t> constant) {
  int64_t axes = image.size(), taps = 1;
  Shape split = {columns.dim(0), channels}, none = {builder.size(0), builder.size(0)};
  for (int64_t size : constant)
    taps *= size;
  split.push_back(builder.size(taps));
  llvm::append_range(split, counts);
  Tensor parts = reshape(columns, split), sum;
  for (int64_t tap = 0; tap < taps && parts; ++tap) {
    Shape low(none), high(none);
    SmallVector<int64_t> interior(2, 0);
    for (int64_t axis = 0, rest = tap, inner = taps; axis < axes; ++axis) {
      inner /= constant[axis];
      int64_t offset = rest / inner * dilations[axis];
      rest %= inner;
      Expr spread = (counts[axis] - 1) * strides[axis] + 1;
      low.push_back(builder.size(offset - pads[axis]));
      high.push_back(image[axis] - spread - (offset - pads[axis]));
      interior.push_back(strides[axis] - 1);
    }
    Tensor part = pad(squeeze(slice(parts, 2, builder.size(tap), builder.size(1)), {2}), low, high, 0.0, interior);
    sum = sum ? sum + part : part;
  }
  return sum;
}

/// For a block that the run states.
Tensor ColumnSum::sumByScatter() {
  mlir::Type i64 = builder.getI64Type();
  Expr taps = productOf(builder, block), places = productOf(builder, counts), elements = productOf(builder, padded);
  Tensor tap = iota(builder, {taps, places}, 0, i64), place = iota(builder, {taps, places}, 1, i64), position;
  Expr tapsBehind = taps, placesBehind = places;
  for (auto [axis, size] : enumerate(padded)) {
    // Divisors are at least 1 where there are elements.
    auto digit = [&](Tensor number, Expr &behind, Expr extent) {
      Tensor whole = max(builder.integer(behind), 1.0);
      behind = builder.define("behind", Expr::floorDiv(behind, extent), sym::Interval::size());
      return binary(BinaryKind::rem, number, whole) / max(builder.integer(behind), 1.0);
    };
    Tensor own = digit(tap, tapsBehind, block[axis]) * double(dilations[axis]) +
                 digit(place, placesBehind, counts[axis]) * double(strides[axis]);
    position = position ? position * builder.integer(size) + own : own;
  }
  Expr lines = columns.dim(0) * channels;
  Shape flat = {lines, taps * places}, whole = {columns.dim(0), channels};
  llvm::append_range(whole, padded);
  Tensor everywhere = broadcastTo(reshape(position, {taps * places}), flat);
  Tensor sum = scatterElements(builder.splat(0, columns.elementType(), {lines, elements}), everywhere,
                               reshapeUnchecked(columns, flat), 1, graph::ScatterKind::add);
  sum = reshape(sum, whole);
  for (auto [axis, size] : enumerate(image))
    sum = sum ? slice(sum, axis + 2, builder.size(pads[axis]), size) : sum;
  return sum;
}

Tensor ColumnSum::build() {
  if (!read())
    return {};
  constexpr int64_t mostPads = 64;
  SmallVector<int64_t> constant;
  int64_t taps = 1;
  for (Expr size : block)
    if (std::optional<int64_t> number = size.asConstant()) {
      constant.push_back(*number);
      taps *= *number;
    }
  return constant.size() == block.size() && taps <= mostPads ? sumOfPads(constant) : sumByScatter();
}

} // namespace

void registerUnfolding(Registry &registry) {
  registry.add("MaxUnpool", {9}, maxUnpool);
  registry.add("Col2Im", {18}, [](Node &node) { return ColumnSum(node).build(); });
}

} // namespace freestone::importer
