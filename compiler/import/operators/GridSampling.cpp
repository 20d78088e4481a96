// Reading a picture at places that data decide, between its elements.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/SampledPictures.h"

using namespace llvm;

namespace freestone::importer {
namespace {

enum class Padding { Zeros, Border, Reflection };

/// One axis of the picture.
struct SampledAxis {
  Tensor size; ///< a float scalar
  double low;  ///< where the picture begins: at the middle of its first element, or half an element before
  bool isAligned;
  Padding padding;

  Tensor high() const { return isAligned ? size - 1.0 : size - 0.5; }

  /// Mirrors at both ends until the place is inside.
  Tensor reflect(Tensor place) const {
    Tensor range = high() - low, period = max(range * 2.0, 1.0), offset = place - low;
    offset = offset - floor(offset / period) * period;
    return min(offset, period - offset) + low;
  }

  /// From coordinates within [-1, 1] to places in elements.
  Tensor place(Tensor coordinate, bool rounds) const {
    Tensor place = isAligned ? (coordinate + 1.0) / 2.0 * (size - 1.0) : ((coordinate + 1.0) * size - 1.0) / 2.0;
    if (rounds)
      place = round(place);
    if (padding == Padding::Zeros)
      return place;
    Tensor inside = padding == Padding::Border ? min(max(place, 0.0), size - 1.0) : reflect(place);
    return select((place < low) | (place > high()), inside, place);
  }

  /// The element that stands for one that may be outside.
  Tensor element(Tensor index) const {
    return min(max(padding == Padding::Reflection ? reflect(index) : index, 0.0), size - 1.0);
  }
};

/// Keys' cubic with a = -0.75, at the distance of the four elements around a place.
SmallVector<Tensor> cubicWeights(Tensor t) {
  constexpr double a = -0.75;
  auto far = [&](Tensor d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  auto near = [&](Tensor d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

SmallVector<Tap> tapsOf(const SampledAxis &axis, Tensor place, StringRef mode) {
  SmallVector<Tap> taps;
  if (mode == "nearest") {
    taps.push_back({place, scalarLike(1, place)});
  } else {
    Tensor first = floor(place), t = place - first;
    bool isCubic = mode == "cubic";
    SmallVector<Tensor> weights = isCubic ? cubicWeights(t) : SmallVector<Tensor>{1.0 - t, t};
    for (auto [number, weight] : enumerate(weights))
      taps.push_back({first + (double(number) - (isCubic ? 1 : 0)), weight});
  }
  for (Tap &tap : taps) {
    if (axis.padding == Padding::Zeros)
      tap.weight = select((tap.index >= 0.0) & (tap.index <= axis.size - 1.0), tap.weight, 0.0);
    tap.index = axis.element(tap.index);
  }
  return taps;
}

Tensor gridSample(Node &node) {
  Tensor x = node.input(0), grid = node.input(1);
  if (!x || !grid)
    return {};
  ModelBuilder &builder = node.builder();
  int64_t axes = x.rank() - 2;
  if (axes < 1 || grid.rank() != x.rank() || grid.extent(-1) != axes)
    return node.reject("the grid must have a coordinate for each axis of the picture in its last dimension");
  std::string mode = node.text("mode", node.opset() < 20 ? "bilinear" : "linear");
  mode = mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
  std::string name = node.text("padding_mode", "zeros");
  if (!is_contained({"linear", "cubic", "nearest"}, mode) || !is_contained({"zeros", "border", "reflection"}, name))
    return node.reject("the mode '" + mode + "' or the padding '" + name + "' does not exist");
  Padding padding = name == "zeros" ? Padding::Zeros : name == "border" ? Padding::Border : Padding::Reflection;
  bool isAligned = node.integer("align_corners") != 0;

  if (!builder.makeEqual(grid.dim(0), x.dim(0), "batch sizes of the picture and of the grid"))
    return {};
  mlir::Type type = x.elementType().isF64() ? x.elementType() : builder.getF32Type();
  Shape made(grid.shape().drop_back());
  Expr places = builder.size(1);
  for (Expr extent : ArrayRef(made).drop_front())
    places = places * extent;
  grid = cast(reshape(grid, {made[0], places, builder.size(axes)}), type);

  SmallVector<SmallVector<Tap>> taps;
  for (int64_t axis = 0; axis < axes; ++axis) {
    Tensor count = cast(builder.integer(x.dim(axis + 2)), type);
    SampledAxis sampled{count, isAligned ? 0.0 : -0.5, isAligned, padding};
    // The last coordinate is that of the first axis.
    Tensor coordinate = squeeze(slice(grid, 2, builder.size(axes - 1 - axis), builder.size(1)), {2});
    taps.push_back(tapsOf(sampled, sampled.place(coordinate, mode == "nearest"), mode));
  }
  Tensor sum = sampleSum(flattenPictures(x), combineTaps(node, x.shape().drop_front(2), taps));
  Shape result = {x.dim(0), x.dim(1)};
  llvm::append_range(result, ArrayRef(made).drop_front());
  return cast(reshape(transpose(sum, {0, 2, 1}), result), x.elementType());
}

/// The coordinates of a picture's cells, from -1 to 1, mapped by theta. The coordinates of all cells of a row form one
/// innermost dimension, long enough for vectors.
Tensor affineGrid(Node &node) {
  Tensor theta = node.input(0);
  std::optional<Shape> size = node.sizesInput(1);
  if (!theta || !size)
    return {};
  ModelBuilder &builder = node.builder();
  int64_t axes = int64_t(size->size()) - 2;
  if (axes < 2 || axes > 3 || theta.rank() != 3 || theta.extent(1) != axes || theta.extent(2) != axes + 1)
    return node.reject("theta must have the shape [N, 2, 3] for a size [N, C, H, W], [N, 3, 4] for [N, C, D, H, W]");
  if (!builder.makeEqual(theta.dim(0), size->front(), "batch sizes of theta and of the size"))
    return {};
  bool isAligned = node.integer("align_corners") != 0;
  mlir::Type type = theta.elementType().isF64() ? theta.elementType() : builder.getF32Type();
  Expr one = builder.size(1), width = size->back(), coordinates = builder.size(axes);
  Shape row(axes, one), grid = {theta.dim(0)};
  row.front() = theta.dim(0);
  row.push_back(width * coordinates);
  llvm::append_range(grid, ArrayRef(*size).drop_front(2));
  grid.push_back(coordinates);
  // A column of theta, broadcast to all cells of a row: the factors of one axis for every coordinate.
  auto column = [&](int64_t number) {
    Tensor factors = slice(cast(theta, type), 2, builder.size(number), one);
    return reshape(broadcastTo(transpose(factors, {0, 2, 1}), {theta.dim(0), width, coordinates}), row);
  };
  Tensor sum = column(axes);
  for (int64_t axis = 0; axis < axes; ++axis) {
    Expr extent = (*size)[axis + 2];
    Tensor count = cast(builder.integer(extent), type);
    Tensor cell = cast(iota(builder, {extent}, 0, builder.getI64Type()), type);
    Tensor place = isAligned ? cell * 2.0 / max(count - 1.0, 1.0) - 1.0 : (cell * 2.0 + 1.0) / count - 1.0;
    bool isRow = axis + 1 == axes;
    if (isRow)
      place = broadcastTo(unsqueeze(place, {1}), {width, coordinates});
    Shape shape(axes + 1, one);
    shape[axis + 1] = isRow ? row.back() : extent;
    // Coordinates are in reverse order: the first belongs to the last axis.
    sum = sum + column(axes - 1 - axis) * reshape(place, shape);
  }
  return cast(reshape(sum, grid), theta.elementType());
}

} // namespace

void registerGridSampling(Registry &registry) {
  registry.add("GridSample", {16}, gridSample);
  registry.add("AffineGrid", {20}, affineGrid);
}

} // namespace freestone::importer
