#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/WeightGradientEmitter.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// Whether a coordinate of the picture, and an offset, lie within a dimension.
Value WeightGradientEmitter::isInside(Expr index, Value offset, unsigned dim, const Positions &positions) {
  // Unsigned, so that a negative coordinate compares as a large one.
  return compare(arith::CmpIPredicate::ult, emission.add(emission.getIndex(index, positions), offset),
                 emission.getSize(form.compute.getInputType(form.picture).getShape()[dim]));
}

/// Copies rows of the picture from that on which the first tap reads at `firstRow`, with their border.
void WeightGradientEmitter::copyPicture(Value image, Value firstRow, Value rows) {
  graph::TensorType type = form.compute.getInputType(form.picture);
  SmallVector<Expr> indices = getIndices(form.picture);
  Positions first = getPositions(image, firstRow, firstColumn);
  Value zero = emission.getConstant(0), rowStride = zero, inPlane;
  Value start = getLinear(form.picture, image, firstRow), pitch = emission.getSize(tiles.pitch);
  if (form.row) {
    Expr elements = Expr::constant(builder.getContext(), 1);
    for (Expr extent : type.getShape().drop_front(form.row->dim + 1))
      elements = elements * extent;
    rowStride = emission.getSize(elements);
  }
  if (form.depth)
    inPlane = isInside(indices[form.depth->dim], zero, form.depth->dim, first);
  // The elements of a row that are in bounds.
  Value pixelAt = emission.getIndex(indices[form.pixel.dim], first);
  Value begin = emission.maximum(zero, emission.subtract(zero, pixelAt));
  Value end = emission.minimum(pitch, emission.subtract(emission.getSize(type.getShape()[form.pixel.dim]), pixelAt));
  Value rowPitch = emission.multiply(pitch, emission.getSize(tiles.pixelPitch));
  // Along rows before channels: few streams come from memory at a time.
  emission.forRange(zero, channels, lanes, [&](Value channel) {
    emission.forRange(zero, rows, 1, [&](Value row) {
      Value last = end;
      if (form.row)
        last = select(isInside(indices[form.row->dim], row, form.row->dim, first), last, zero);
      if (inPlane)
        last = select(inPlane, last, zero);
      copyPlaneRow(emission.add(start, emission.multiply(row, rowStride)), emission.multiply(row, rowPitch), begin,
                   last, channel);
    });
  });
}

/// The lanes from `pixel` on that lie within a range.
Value WeightGradientEmitter::getBounds(Value pixel, Value begin, Value end) {
  auto laneOf = [&](Value at) { return emission.maximum(emission.getConstant(0), emission.subtract(at, pixel)); };
  Value until = laneOf(end);
  return arith::XOrIOp::create(builder, location, emission.getTailMask(lanes, emission.minimum(laneOf(begin), until)),
                               emission.getTailMask(lanes, until));
}

/// Pixel by pixel, a vector of channels from `channel` on; pixels written past the end of a row are overwritten by the
/// next row.
void WeightGradientEmitter::copyPlaneRow(Value source, Value target, Value begin, Value end, Value channel) {
  Value zero = emission.getConstant(0), pixelPitch = emission.getSize(tiles.pixelPitch);
  Value channelStride = zero;
  if (form.channel)
    channelStride = emission.getSize(tile::getStrides(form.compute, form.picture)->strides[*form.channel]);
  emission.forRange(zero, emission.getSize(tiles.pitch), lanes, [&](Value pixel) {
    Value mask = getBounds(pixel, begin, end);
    Value from = emission.add(source, pixel), to = emission.add(target, emission.multiply(pixel, pixelPitch));
    if (!tiles.transformed && form.getExtent(form.channel).isConstant(1)) {
      Value values = loadSquare(form.picture, from, emission.getConstant(1), zero, mask).front();
      vector::StoreOp::create(builder, location, values, planes, to);
      return;
    }
    Value left = emission.subtract(channels, channel);
    SmallVector<Value> square = loadSquare(form.picture, emission.add(from, emission.multiply(channel, channelStride)),
                                           left, channelStride, mask);
    transposeSquare(builder, location, square);
    Value stored = emission.getTailMask(lanes, left), place = emission.add(to, channel);
    for (auto [lane, values] : llvm::enumerate(square)) {
      Value at = emission.add(place, emission.multiply(emission.getConstant(lane), pixelPitch));
      if (tiles.transformed)
        vector::StoreOp::create(builder, location, values, planes, at);
      else
        vector::MaskedStoreOp::create(builder, location, planes, at, stored, values);
    }
  });
}

/// Copies the positions of each channel, one after the other: as a run where they are one in memory.
void WeightGradientEmitter::copyChannels(const Part &part) {
  SmallVector<Expr> indices = getIndices(form.picture);
  graph::TensorType type = form.compute.getInputType(form.picture);
  Positions first = getPositions(part.firstImage, part.firstRow, firstColumn);
  Value zero = emission.getConstant(0), one = emission.getConstant(1), places = emission.getSize(form.getPlaces());
  std::optional<tile::LinearIndex> strides = tile::getStrides(form.compute, form.picture);
  CopiedRows copied;
  copied.source = getLinear(form.picture, part.firstImage, part.firstRow);
  copied.rows = part.rows;
  copied.channelStride = emission.getSize(strides->strides[*form.channel]);
  Value pixelAt = emission.getIndex(indices[form.pixel.dim], first);
  copied.begin = emission.maximum(zero, emission.subtract(zero, pixelAt));
  copied.end = emission.minimum(places, emission.subtract(emission.getSize(type.getShape()[form.pixel.dim]), pixelAt));
  auto equal = [&](Value x, Value y) { return compare(arith::CmpIPredicate::eq, x, y); };
  Value isRun = conjoin(equal(copied.begin, zero), equal(copied.end, places));
  copied.rowStride = zero;
  if (form.row) {
    copied.rowStride = emission.getSize(strides->strides[form.row->place]);
    Value last = emission.multiply(emission.subtract(part.rows, one), emission.getConstant(form.row->stride));
    isRun = conjoin(isRun, equal(copied.rowStride, places));
    for (Value offset : {zero, last})
      isRun = conjoin(isRun, isInside(indices[form.row->dim], offset, form.row->dim, first));
  }
  if (form.depth)
    isRun = conjoin(isRun, isInside(indices[form.depth->dim], zero, form.depth->dim, first));
  emitIf(
      isRun, [&] { copyRuns(copied); }, [&] { copyRowsOfChannels(copied, first); });
}

void WeightGradientEmitter::copyRuns(const CopiedRows &copied) {
  Value zero = emission.getConstant(0), vector = emission.getConstant(lanes);
  Value length = emission.multiply(copied.rows, emission.getSize(form.getPlaces()));
  Value whole = emission.multiply(emission.divide(length, vector), vector);
  Value all = emission.getTailMask(lanes, vector), rest = emission.getTailMask(lanes, emission.subtract(length, whole));
  emission.forRange(zero, channels, 1, [&](Value channel) {
    Value from = emission.add(copied.source, emission.multiply(channel, copied.channelStride));
    Value to = emission.multiply(channel, emission.getConstant(tile::WeightGradientTiles::channelPitch));
    auto copy = [&](Value place, Value mask) {
      Value values = loadSquare(form.picture, emission.add(from, place), emission.getConstant(1), zero, mask).front();
      vector::StoreOp::create(builder, location, values, planes, emission.add(to, place));
    };
    emission.forRange(zero, whole, lanes, [&](Value place) { copy(place, all); });
    copy(whole, rest);
  });
}

/// What is written past the end of a row is overwritten by the next one.
void WeightGradientEmitter::copyRowsOfChannels(const CopiedRows &copied, const Positions &first) {
  SmallVector<Expr> indices = getIndices(form.picture);
  Value zero = emission.getConstant(0), places = emission.getSize(form.getPlaces());
  emission.forRange(zero, copied.rows, 1, [&](Value row) {
    Value last = copied.end;
    auto endOutside = [&](Value inside) { last = select(inside, last, zero); };
    if (form.row)
      endOutside(isInside(indices[form.row->dim], emission.multiply(row, emission.getConstant(form.row->stride)),
                          form.row->dim, first));
    if (form.depth)
      endOutside(isInside(indices[form.depth->dim], zero, form.depth->dim, first));
    // The masks of a row are those of all channels.
    SmallVector<Value> masks;
    for (int64_t pixel = 0; pixel < *form.getPlaces().asConstant(); pixel += lanes)
      masks.push_back(getBounds(emission.getConstant(pixel), copied.begin, last));
    Value source = emission.add(copied.source, emission.multiply(row, copied.rowStride));
    Value target = emission.multiply(row, places);
    emission.forRange(zero, channels, 1, [&](Value channel) {
      Value from = emission.add(source, emission.multiply(channel, copied.channelStride));
      Value pitch = emission.getConstant(tile::WeightGradientTiles::channelPitch);
      Value to = emission.add(target, emission.multiply(channel, pitch));
      for (auto [number, mask] : llvm::enumerate(masks)) {
        Value pixel = emission.getConstant(static_cast<int64_t>(number) * lanes);
        Value values = loadSquare(form.picture, emission.add(from, pixel), emission.getConstant(1), zero, mask).front();
        vector::StoreOp::create(builder, location, values, planes, emission.add(to, pixel));
      }
    });
  });
}
