#include "compiler/codegen/cpu/ConvolutionEmitter.h"

#include "compiler/codegen/cpu/Pack.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// Reduces each rectangle of pixels to one, and moves it to its position among the pooled pixels: the accumulators of
/// later pixels come after it.
void ConvolutionEmitter::poolPanel(Value column, Value count) {
  tile::Pooling &pooling = *form.pooling;
  Value zero = emission.getConstant(0);
  auto vectorType = VectorType::get({lanes}, contraction.elementType);
  LanePoints points{SmallVector<Expr>(ArrayRef(loops).take_front(pooling.compute.getNumParallel())),
                    {},
                    columnSymbol,
                    static_cast<unsigned>(lanes),
                    Value()};
  points.loops.resize(pooling.compute.getNumLoops(), Expr::constant(builder.getContext(), 0));
  AxisRange pooledRows = getPooled(rows, pooling.rows), pooledPixels = getPooled(pixels, pooling.pixels);
  emission.forRange(zero, count, lanes, [&](Value part) {
    points.mask = emission.getTailMask(lanes, emission.subtract(count, part));
    auto getPlace = [&](Value row, Value pixel) {
      return emission.add(getPixelSums(getPanelSums(column, row), pixel), part);
    };
    emission.forRange(zero, pooledRows.count, 1, [&](Value row) {
      emission.forRange(zero, pooledPixels.count, 1, [&](Value pixel) {
        points.positions = getPositions(emission.add(column, part), emission.add(pooledRows.first, row),
                                        emission.add(pooledPixels.first, pixel), zero);
        Value firstRow = emission.multiply(row, emission.getConstant(pooling.rows));
        Value firstPixel = emission.multiply(pixel, emission.getConstant(pooling.pixels));
        Value pooled = arith::ConstantOp::create(
            builder, location, DenseElementsAttr::get(vectorType, Attribute(pooling.compute.getInit(0))));
        for (int64_t place = 0; place < pooling.rows * pooling.pixels; ++place) {
          int64_t rowTap = place / pooling.pixels, pixelTap = place % pooling.pixels;
          if (pooling.rowLoop)
            points.loops[*pooling.rowLoop] = Expr::constant(builder.getContext(), rowTap);
          if (pooling.pixelLoop)
            points.loops[*pooling.pixelLoop] = Expr::constant(builder.getContext(), pixelTap);
          Value from = getPlace(emission.add(firstRow, emission.getConstant(rowTap)),
                                emission.add(firstPixel, emission.getConstant(pixelTap)));
          BodyVectorizer body(emission, pooling.compute, points);
          body.set(pooling.compute.getInputArgs()[pooling.input],
                   vector::LoadOp::create(builder, location, vectorType, sums, from));
          body.set(pooling.compute.getAccumulators()[0], pooled);
          pooled = body.spread(body.getYielded()[0]);
        }
        vector::StoreOp::create(builder, location, pooled, sums, getPlace(row, pixel));
      });
    });
  });
}

/// The beginning of a pixel's accumulators, behind those of the pictures before.
Value ConvolutionEmitter::getPixelSums(Value rowSums, Value pixel) {
  Value position = pixel;
  if (picture)
    position = emission.add(emission.multiply(pixel, emission.getSize(tiles.pictureStep)), picture);
  return emission.add(rowSums, emission.multiply(position, emission.getConstant(width)));
}

/// Stores a picture of the tile: squares of channels and pixels are transposed, since channels are contiguous in the
/// accumulators and pixels in memory.
void ConvolutionEmitter::emitPanelEpilogue(Value column) {
  Value zero = emission.getConstant(0), vectorSize = emission.getConstant(lanes);
  Value count = countColumns(column);
  AxisRange outRows = rows, outPixels = pixels;
  if (form.pooling) {
    poolPanel(column, count);
    outRows = getPooled(rows, form.pooling->rows);
    outPixels = getPooled(pixels, form.pooling->pixels);
  }
  auto isAtLeast = [&](Value size) { return compare(arith::CmpIPredicate::sge, size, vectorSize); };
  Value lastPixel = emission.maximum(zero, emission.subtract(outPixels.count, vectorSize));
  emission.forRange(zero, outRows.count, 1, [&](Value row) {
    Value rowSums = getPanelSums(column, row);
    // Pixels of some channels first: hardware prefetchers follow these few rows of memory.
    emission.forRange(zero, count, lanes, [&](Value part) {
      Value channels = emission.minimum(vectorSize, emission.subtract(count, part));
      emission.forRange(zero, outPixels.count, lanes, [&](Value pixel) {
        if (tiles.tiling.getOverlap())
          pixel = emission.minimum(pixel, lastPixel);
        Value from = emission.add(getPixelSums(rowSums, pixel), part);
        SmallVector<Value> values = loadSquare(from);
        SquarePlace place{emission.add(column, part), emission.add(outRows.first, row),
                          emission.add(outPixels.first, pixel)};
        Value left = emission.subtract(outPixels.count, pixel);
        emitIf(
            conjoin(isAtLeast(left), isAtLeast(channels)), [&] { storeWholeSquare(values, place); },
            [&] { storePartOfSquare(values, place, channels, left); });
      });
    });
  });
}

/// The accumulators of `lanes` channels for as many pixels: a vector of pixels for each channel.
SmallVector<Value> ConvolutionEmitter::loadSquare(Value from) {
  auto vectorType = VectorType::get({lanes}, contraction.elementType);
  SmallVector<Value> values;
  Value pitch = emission.getSize(tiles.pictureStep * width);
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(vector::LoadOp::create(builder, location, vectorType, sums,
                                            emission.add(from, emission.multiply(emission.getConstant(lane), pitch))));
  transposeSquare(builder, location, values);
  return values;
}

/// Channels stay in registers, and pixels have no mask: without AVX-512, masked stores are slow.
void ConvolutionEmitter::storeWholeSquare(ArrayRef<Value> values, const SquarePlace &place) {
  Value last = emission.subtract(emission.add(columns.first, columns.count), emission.getConstant(1));
  SmallVector<EpilogueArguments> all;
  for (auto [lane, value] : llvm::enumerate(values)) {
    Value channel = emission.add(place.channel, emission.getConstant(lane));
    Value channels = emission.minimum(emission.getConstant(ahead), emission.subtract(last, channel));
    all.push_back(getEpilogue(value, {channel, place.row, place.pixel}, Value(), channels));
  }
  emitEpilogues(emission, getStored(), all);
}

/// Stores the first channels and pixels, channel by channel: the code of what follows is emitted once.
void ConvolutionEmitter::storePartOfSquare(ArrayRef<Value> values, const SquarePlace &place, Value channels,
                                           Value pixelsLeft) {
  for (auto [lane, value] : llvm::enumerate(values))
    vector::StoreOp::create(builder, location, value, square, emission.getConstant(lane * lanes));
  Value mask = emission.getTailMask(lanes, pixelsLeft);
  emission.forRange(emission.getConstant(0), channels, 1, [&](Value channel) {
    Value value = vector::LoadOp::create(builder, location, VectorType::get({lanes}, contraction.elementType), square,
                                         emission.multiply(channel, emission.getConstant(lanes)));
    EpilogueArguments epilogue =
        getEpilogue(value, {emission.add(place.channel, channel), place.row, place.pixel}, mask, Value());
    emitEpilogues(emission, getStored(), epilogue);
  });
}

/// What follows on a vector of pixels; operands so many channels `ahead` are prefetched.
EpilogueArguments ConvolutionEmitter::getEpilogue(Value value, const SquarePlace &place, Value mask, Value ahead) {
  Type resultType = tile::getScalarType(getStored().getResultType(0).getElementType());
  LanePoints at{loops, getPositions(place.channel, place.row, place.pixel, emission.getConstant(0)), pixelSymbol,
                static_cast<unsigned>(lanes), mask};
  std::optional<Ahead> next;
  if (ahead)
    next = Ahead{columnSymbol, ahead};
  return {convertWidth(builder, location, value, resultType), std::move(at), next};
}

/// The compute whose results are in the accumulators as they are stored.
tile::ComputeOp ConvolutionEmitter::getStored() { return form.pooling ? form.pooling->compute : contraction.compute; }
