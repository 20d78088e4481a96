// Pooling of regions of pictures, which data give.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/SampledPictures.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Column `number` of [rows, columns] as [rows, 1, 1].
Tensor columnOf(Tensor x, int64_t number) {
  Expr one = x.builder().size(1);
  return reshape(slice(x, 1, x.builder().size(number), one), {x.dim(0), one, one});
}

/// The taps of samples along one axis. Samples up to one element outside lie on the edge; further ones count as zeros.
SmallVector<Tap> edgeTaps(Tensor place, Tensor size) {
  Tensor isInside = (place >= -1.0) & (place <= size);
  Tensor inside = min(max(place, 0.0), size - 1.0);
  SmallVector<Tap> taps = linearTaps(inside, size);
  for (Tap &tap : taps)
    tap.weight = select(isInside, tap.weight, 0.0);
  return taps;
}

struct RoiAxis {
  /// Of the regions, in elements of the picture: [R, 1, 1].
  Tensor begin, length;
  int64_t bins, samples;

  /// The middle of each sample, [R, bins · samples].
  Tensor places() const {
    GraphBuilder &builder = begin.builder();
    Tensor number = cast(iota(builder, {builder.size(bins * samples)}, 0, builder.getI64Type()), begin.elementType());
    return reshape(begin, {begin.dim(0), builder.size(1)}) +
           (number + 0.5) * reshape(length, {begin.dim(0), builder.size(1)}) / double(bins * samples);
  }
};

Tensor roiAlign(Node &node) {
  Tensor x = node.input(0), rois = node.input(1), batches = node.input(2);
  if (!x || !rois || !batches)
    return {};
  ModelBuilder &builder = node.builder();
  if (x.rank() != 4 || rois.rank() != 2 || rois.extent(1) != 4 || batches.rank() != 1)
    return node.reject("the input must have the shape [N, C, H, W], regions [R, 4], and their pictures [R]");
  std::string mode = node.text("mode", "avg");
  std::string mapping =
      node.text("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (!is_contained({"avg", "max"}, mode) || !is_contained({"half_pixel", "output_half_pixel"}, mapping))
    return node.reject("the mode '" + mode + "' or the coordinate mode '" + mapping + "' does not exist");
  int64_t samples = node.integer("sampling_ratio"), height = node.integer("output_height", 1),
          width = node.integer("output_width", 1);
  if (samples < 0 || height < 1 || width < 1)
    return node.reject("the output's sizes must be positive, and the sampling ratio not negative");
  if (samples == 0)
    return node.refuse("a sampling ratio of 0 takes a number of samples that depends on data; set one");
  Expr regions = rois.dim(0), one = builder.size(1);
  batches = conform(batches, {regions}, "the numbers of regions and of their pictures");
  if (!batches)
    return {};

  bool isAligned = mapping == "half_pixel";
  mlir::Type type = x.elementType().isF64() ? x.elementType() : builder.getF32Type();
  double scale = node.real("spatial_scale", 1);
  rois = cast(rois, type) * scale - (isAligned ? 0.5 : 0.0);
  SmallVector<SmallVector<Tap>> taps = {
      {{cast(reshape(batches, {regions, one, one}), builder.getI64Type()), builder.scalar(1, type)}}};
  for (int64_t axis : {0, 1}) {
    RoiAxis roi{columnOf(rois, 1 - axis), columnOf(rois, 3 - axis) - columnOf(rois, 1 - axis), axis ? width : height,
                samples};
    // Without half pixels, regions have at least one element.
    if (!isAligned)
      roi.length = max(roi.length, 1.0);
    Tensor size = cast(builder.integer(x.dim(axis + 2)), type);
    Expr places = builder.size(roi.bins * samples);
    Shape shape = axis ? Shape{regions, one, places} : Shape{regions, places, one};
    taps.push_back(edgeTaps(reshape(roi.places(), shape), size));
  }
  Shape extents = {x.dim(0), x.dim(2), x.dim(3)}, flat = {one, x.dim(0) * x.dim(2) * x.dim(3), x.dim(1)};
  SmallVector<Tap> all = combineTaps(node, extents, taps);
  Shape places = {one, regions * (height * samples * width * samples)};
  for (Tap &tap : all) {
    Shape sampled = {regions, builder.size(height * samples), builder.size(width * samples)};
    tap = {reshape(broadcastTo(tap.index, sampled), places), reshape(broadcastTo(tap.weight, sampled), places)};
  }
  Tensor pictures = reshape(transpose(x, {0, 2, 3, 1}), flat);
  Expr rows = builder.size(height), columns = builder.size(width), count = builder.size(samples);
  Shape split = {regions, rows, count, columns, count, x.dim(1)};
  Tensor pooled;
  if (mode == "avg") {
    pooled = mean(reshape(sampleSum(pictures, all), split), {2, 4});
  } else {
    // The maximum is that of weighted elements, before they are added.
    for (const Tap &tap : all) {
      Tensor weighted = sampleSum(pictures, tap);
      pooled = pooled ? max(pooled, weighted) : weighted;
    }
    pooled = maximum(reshape(pooled, split), {2, 4});
  }
  return cast(transpose(pooled, {0, 3, 1, 2}), x.elementType());
}

/// Whether elements of an axis are in each bin of each region: [R, bins, elements]. Begin and length are whole numbers.
Tensor isInBin(Tensor begin, Tensor length, int64_t bins, Expr extent) {
  GraphBuilder &builder = begin.builder();
  mlir::Type type = begin.elementType(), i64 = builder.getI64Type();
  Expr one = builder.size(1);
  Tensor bin = cast(iota(builder, {builder.size(bins), one}, 0, i64), type);
  Tensor element = cast(iota(builder, {extent}, 0, i64), type);
  Tensor first = floor(bin * length / double(bins)) + begin, end = ceil((bin + 1.0) * length / double(bins)) + begin;
  return (element >= first) & (element < end);
}

Tensor maxRoiPool(Node &node) {
  Tensor x = node.input(0), rois = node.input(1);
  SmallVector<int64_t> bins = node.integers("pooled_shape");
  if (!x || !rois)
    return {};
  if (x.rank() != 4 || rois.rank() != 2 || rois.extent(1) != 5 || bins.size() != 2 || bins[0] < 1 || bins[1] < 1)
    return node.reject("the input must have the shape [N, C, H, W], regions [R, 5], and the pooled shape two sizes");
  ModelBuilder &builder = node.builder();
  Expr regions = rois.dim(0), one = builder.size(1);
  Tensor batch = reshape(cast(columnOf(rois, 0), builder.getI64Type()), {regions});
  // Halves are rounded up.
  Tensor places = floor(widen(rois) * node.real("spatial_scale", 1) + 0.5);
  auto along = [&](int64_t axis) {
    Tensor begin = columnOf(places, 2 - axis);
    Tensor length = max(columnOf(places, 4 - axis) - begin + 1.0, 1.0);
    return isInBin(begin, length, bins[axis], x.dim(axis + 2));
  };
  Tensor taken = gather(x, batch, 0), least = scalarLike(-INFINITY, x);
  // First along the columns, then along the rows: [R, C, H, columns], then [R, C, rows, columns].
  Shape acrossColumns = {regions, one, one, builder.size(bins[1]), x.dim(3)},
        acrossRows = {regions, one, builder.size(bins[0]), x.dim(2), one};
  Tensor pooled = maximum(select(reshape(along(1), acrossColumns), unsqueeze(taken, {3}), least), {4});
  pooled = maximum(select(reshape(along(0), acrossRows), unsqueeze(pooled, {2}), least), {3});
  // Bins without elements are zero.
  return select(equal(pooled, least), 0.0, pooled);
}

} // namespace

void registerRoiPooling(Registry &registry) {
  registry.add("RoiAlign", {10}, roiAlign);
  registry.add("MaxRoiPool", {1}, maxRoiPool);
}

} // namespace freestone::importer
