#include "compiler/codegen/cpu/ConvolutionEmitter.h"
#include "compiler/codegen/cpu/Pack.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

// Pictures that go together: a pixel of the copy is that of all of them, one after the other, so that they are rows of
// the micro-kernel, and read each panel of weights once.

/// Sets the outer loops to a picture.
void ConvolutionEmitter::enterPicture(Value number) {
  SmallVector<Value> digits = emission.unravel(number, contraction.getExtents(tiles.pictureLoops));
  for (auto [position, digit] : llvm::zip_equal(MutableArrayRef(outer).take_back(digits.size()), digits))
    position.value = digit;
}

/// `body` for each picture of the tile.
void ConvolutionEmitter::forPictures(llvm::function_ref<void()> body) {
  if (!begins)
    return body();
  Positions before = outer;
  emission.forRange(emission.getConstant(0), pictures.count, 1, [&](Value number) {
    picture = number;
    enterPicture(emission.add(pictures.first, number));
    body();
  });
  picture = Value();
  outer = before;
}

/// Lists where the first pixel under the tile is in each picture's first channel. A tile with fewer pictures has its
/// last one again.
void ConvolutionEmitter::listPictures() {
  pictures = dealt[dealt.size() - 4];
  Value step = emission.getSize(tiles.pictureStep), one = emission.getConstant(1);
  positions = emission.multiply(pixels.count, step);
  Value last = emission.maximum(emission.getConstant(0), emission.subtract(pictures.count, one));
  emission.forRange(emission.getConstant(0), step, 1, [&](Value number) {
    enterPicture(emission.add(pictures.first, emission.minimum(number, last)));
    Value begin = getLinear(form.picture, columns.first, rows.first, pixels.first, emission.getConstant(0));
    memref::StoreOp::create(builder, location, toWord(begin), begins, ValueRange{number});
  });
  enterPicture(pictures.first);
}

/// Elements between neighbours of the picture along a dimension.
Value ConvolutionEmitter::getDimStride(unsigned dim) {
  sym::Expr stride = sym::Expr::constant(builder.getContext(), 1);
  for (sym::Expr extent :
       ArrayRef(tile::getStorageShape(contraction.compute.getInputType(form.picture))).drop_front(dim + 1))
    stride = stride * extent;
  return emission.getSize(stride);
}

/// Copies the part of some channels that the tile's windows cover, pixel by pixel: rows and pixels out of bounds have
/// the picture's fill.
void ConvolutionEmitter::interleavePictures(const AxisRange &channels) {
  tile::ComputeOp compute = contraction.compute;
  Value zero = emission.getConstant(0), one = emission.getConstant(1), step = emission.getSize(tiles.pictureStep);
  Value memory = emission.getBuffer(compute.getInputs()[form.picture]), stride = emission.getConstant(form.pixelStride);
  TypedAttr fill = compute.getFill(form.picture);
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  Value outside =
      arith::ConstantOp::create(builder, location, fill ? fill : cast<TypedAttr>(builder.getZeroAttr(stored)));
  outside = convertWidth(builder, location, outside, contraction.elementType);
  ArrayRef<sym::Expr> shape = compute.getInputType(form.picture).getShape();
  Positions first = getPositions(columns.first, rows.first, pixels.first, zero);
  SmallVector<sym::Expr> indices = getIndices(form.picture);
  /// Of so many elements along a dimension, a multiple apart, those from the first one inside of the picture to the
  /// end.
  auto getInside = [&](unsigned dim, Value count, int64_t multiple) {
    Value apart = emission.getConstant(multiple), at = emission.getIndex(indices[dim], first);
    Value before = emission.ceilDivide(emission.maximum(zero, emission.subtract(zero, at)), apart);
    Value left = emission.maximum(zero, emission.subtract(emission.getSize(shape[dim]), at));
    Value end = emission.minimum(count, emission.ceilDivide(left, apart));
    return std::pair(emission.minimum(before, end), end);
  };
  Value span = emission.multiply(emission.subtract(pixels.count, one), stride);
  Value across = emission.add(span, emission.getConstant(form.pixelSpan));
  auto [beforePixels, endPixels] = getInside(form.pixelDim, across, 1);
  Value rowCount = one, beforeRows = zero, endRows = one, rowStride = zero;
  if (form.rowDim) {
    int64_t apart = form.rowStride / tiles.copiedStride;
    Value lastRow = emission.multiply(emission.subtract(rows.count, one), emission.getConstant(tiles.copiedStride));
    rowCount = emission.add(lastRow, emission.getConstant(form.rowSpan));
    std::tie(beforeRows, endRows) = getInside(*form.rowDim, rowCount, std::max<int64_t>(1, apart));
    rowStride = emission.multiply(getDimStride(*form.rowDim), emission.getConstant(apart));
  }
  /// Pixels of a row out of bounds.
  auto fillPixels = [&](Value place, Value from, Value end) {
    emission.forRange(from, end, 1, [&](Value pixel) {
      Value inRun = emission.divide(pixel, stride);
      Value run = emission.subtract(pixel, emission.multiply(inRun, stride));
      Value at = emission.add(emission.add(place, emission.multiply(run, emission.getSize(tiles.run))),
                              emission.multiply(inRun, step));
      emission.forRange(zero, step, 1, [&](Value number) {
        memref::StoreOp::create(builder, location, outside, planes, ValueRange{emission.add(at, number)});
      });
    });
  };
  /// A row of all pictures, with its place in the copy and behind their begins. Of its runs, those that a tap reads.
  auto copyRow = [&](Value place, Value source) {
    fillPixels(place, zero, beforePixels);
    emission.forRange(zero, step, 1, [&](Value number) {
      Value begin = memref::LoadOp::create(builder, location, begins, ValueRange{number});
      Value row = emission.add(arith::IndexCastOp::create(builder, location, builder.getIndexType(), begin), source);
      for (int64_t run = 0; run < std::min(form.pixelStride, form.pixelSpan); ++run) {
        auto count = [&](Value pixelsBefore) {
          Value later = emission.maximum(zero, emission.subtract(pixelsBefore, emission.getConstant(run)));
          return emission.ceilDivide(later, stride);
        };
        Value from = emission.add(row, emission.getConstant(run));
        Value runPlace = emission.multiply(emission.getConstant(run), emission.getSize(tiles.run));
        Value to = emission.add(emission.add(place, runPlace), number);
        emission.forRange(count(beforePixels), count(endPixels), 1, [&](Value inRun) {
          Value at = emission.add(from, emission.multiply(inRun, stride));
          Value value = memref::LoadOp::create(builder, location, memory, ValueRange{at});
          value = convertWidth(builder, location, value, contraction.elementType);
          memref::StoreOp::create(builder, location, value, planes,
                                  ValueRange{emission.add(to, emission.multiply(inRun, step))});
        });
      }
    });
    fillPixels(place, endPixels, across);
  };
  Value depthTaps = emission.getConstant(form.depthTaps);
  emission.forRange(zero, emission.multiply(channels.count, depthTaps), 1, [&](Value plane) {
    Value channel = emission.divide(plane, depthTaps);
    Value depthTap = emission.subtract(plane, emission.multiply(channel, depthTaps));
    Value target = emission.multiply(plane, emission.getSize(tiles.planeStride));
    Value source = emission.multiply(emission.add(channels.first, channel), getDimStride(form.channelDim));
    if (form.depthDim)
      source = emission.add(source, emission.multiply(depthTap, getDimStride(*form.depthDim)));
    auto forRows = [&](Value from, Value end, bool isInside) {
      emission.forRange(from, end, 1, [&](Value row) {
        Value place = emission.add(target, emission.multiply(row, emission.getSize(tiles.rowPitch)));
        if (!isInside)
          return fillPixels(place, zero, across);
        copyRow(place, emission.add(source, emission.multiply(row, rowStride)));
      });
    };
    // What only skipped taps read is not copied.
    auto copyRows = [&] {
      forRows(beforeRows, endRows, /*isInside=*/true);
      if (tapAxes)
        return;
      forRows(zero, beforeRows, /*isInside=*/false);
      forRows(endRows, rowCount, /*isInside=*/false);
    };
    if (form.depthTaps == 1)
      return copyRows();
    Value depth = emission.add(emission.getIndex(indices[*form.depthDim], first), depthTap);
    // Unsigned: a negative coordinate compares as a large one.
    emitIf(compare(arith::CmpIPredicate::ult, depth, emission.getSize(shape[*form.depthDim])), copyRows, [&] {
      if (!tapAxes)
        forRows(zero, rowCount, /*isInside=*/false);
    });
  });
}
