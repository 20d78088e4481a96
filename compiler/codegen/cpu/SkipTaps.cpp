#include "compiler/codegen/cpu/ConvolutionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using tile::ConvolutionTiles;

// Taps that read zeros beyond the picture alone. Along each axis, those that touch the picture are neighbours: which
// ones, follows from the sizes of the run, and from the row and the pixels that are computed.

/// The picture's coordinate in a dimension at the first tap.
Value ConvolutionEmitter::getCoordinate(unsigned dim, Value row, Value pixel) {
  return emission.getIndex(getIndices(form.picture)[dim],
                           getPositions(columns.first, row, pixel, emission.getConstant(0)));
}

/// The taps that some windows touch the picture with: those from the coordinate `first` to `last` at the first tap.
ConvolutionEmitter::TapRange ConvolutionEmitter::getTaps(const tile::TapAxis &axis, Value first, Value last) {
  Value zero = emission.getConstant(0), all = emission.getConstant(axis.taps), step = emission.getConstant(axis.step);
  Value size = emission.getSize(contraction.compute.getInputType(form.picture).getShape()[*axis.dim]);
  Value begin = emission.ceilDivide(emission.maximum(zero, emission.subtract(zero, last)), step);
  Value left = emission.subtract(emission.add(size, emission.getConstant(axis.step - 1)), first);
  Value end = emission.minimum(all, emission.divide(emission.maximum(zero, left), step));
  begin = emission.minimum(all, begin);
  Value count = emission.maximum(zero, emission.subtract(end, begin));
  return {begin, count, compare(arith::CmpIPredicate::eq, count, all)};
}

ConvolutionEmitter::TapRange ConvolutionEmitter::getRowTaps(Value row) {
  if (!form.rowDim)
    return {emission.getConstant(0), emission.getConstant(1), arith::ConstantIntOp::create(builder, location, 1, 1)};
  Value at = getCoordinate(*form.rowDim, emission.add(rows.first, row), pixels.first);
  return getTaps(tapAxes->rows, at, at);
}

/// What holds for all rows of the tile: the taps along depths and pixels, and which rows sum all taps.
void ConvolutionEmitter::boundTaps() {
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  Value first = getCoordinate(form.pixelDim, rows.first, pixels.first);
  Value span = emission.multiply(emission.subtract(pixels.count, one), emission.getConstant(form.pixelStride));
  pixelTaps = getTaps(tapAxes->pixels, first, emission.add(first, span));
  depthTaps = {zero, one, arith::ConstantIntOp::create(builder, location, 1, 1)};
  if (form.depthDim) {
    Value depth = getCoordinate(*form.depthDim, rows.first, pixels.first);
    depthTaps = getTaps(tapAxes->depths, depth, depth);
  }
  hasAllInRows = conjoin(pixelTaps.isAll, depthTaps.isAll);
  // Rows miss their first taps at the beginning of the picture, and their last ones at its end.
  Value lastRow = emission.maximum(zero, emission.subtract(rows.count, one));
  hasAll = conjoin(hasAllInRows, conjoin(getRowTaps(zero).isAll, getRowTaps(lastRow).isAll));
  firstWhole = zero;
  if (form.rowDim) {
    Value missing = emission.subtract(zero, getCoordinate(*form.rowDim, rows.first, pixels.first));
    firstWhole = emission.ceilDivide(emission.maximum(zero, missing),
                                     emission.getConstant(std::max<int64_t>(1, form.rowStride)));
  }
}

/// Lists the steps of k whose taps touch the picture, unless the list of a tile before serves: row by row of the
/// window, so that those of each row of pixels are neighbours in it.
void ConvolutionEmitter::listSteps(const AxisRange &channels) {
  const tile::TapAxis &rowAxis = tapAxes->rows, &pixelAxis = tapAxes->pixels;
  SmallVector<Value> key = {pixelTaps.first, pixelTaps.count, depthTaps.first, depthTaps.count, channels.count};
  Value isStale =
      arith::XOrIOp::create(builder, location, hasAll, arith::ConstantIntOp::create(builder, location, 1, 1));
  Value differs = arith::ConstantIntOp::create(builder, location, 0, 1);
  for (auto [number, value] : llvm::enumerate(key)) {
    Value before = memref::LoadOp::create(builder, location, listedSteps, ValueRange{emission.getConstant(number)});
    differs =
        arith::OrIOp::create(builder, location, differs, compare(arith::CmpIPredicate::ne, before, toWord(value)));
  }
  isStale = conjoin(isStale, differs);
  auto branch = scf::IfOp::create(builder, location, isStale, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [number, value] : llvm::enumerate(key))
    memref::StoreOp::create(builder, location, toWord(value), listedSteps, ValueRange{emission.getConstant(number)});
  Value zero = emission.getConstant(0), two = emission.getConstant(2), stride = emission.getConstant(form.pixelStride);
  Value planeStride = emission.getSize(tiles.planeStride), allDepths = emission.getConstant(form.depthTaps);
  auto times = [&](Value number, int64_t factor) { return emission.multiply(number, emission.getConstant(factor)); };
  auto forTaps = [&](const TapRange &taps, llvm::function_ref<void(Value, Value)> body) {
    emission.forRange(zero, taps.count, 1, [&](Value number) { body(number, emission.add(taps.first, number)); });
  };
  emission.forRange(zero, emission.getConstant(rowAxis.taps), 1, [&](Value rowTap) {
    forTaps(pixelTaps, [&](Value pixelNumber, Value pixelTap) {
      Value pixel = times(pixelTap, pixelAxis.step), place = emission.divide(pixel, stride);
      Value run = emission.subtract(pixel, emission.multiply(place, stride));
      Value ofRow = emission.add(emission.multiply(run, emission.getSize(tiles.run)),
                                 emission.multiply(place, emission.getSize(tiles.pictureStep)));
      Value offset =
          emission.add(emission.multiply(times(rowTap, rowAxis.step), emission.getSize(tiles.rowPitch)), ofRow);
      Value tap = emission.add(times(rowTap, rowAxis.pitch), times(pixelTap, pixelAxis.pitch));
      forTaps(depthTaps, [&](Value depthNumber, Value depthTap) {
        Value number = emission.add(emission.multiply(rowTap, pixelTaps.count), pixelNumber);
        number = emission.add(emission.multiply(number, depthTaps.count), depthNumber);
        Value first = emission.multiply(number, channels.count);
        emission.forRange(zero, channels.count, 1, [&](Value channel) {
          Value plane = emission.add(emission.multiply(channel, allDepths), depthTap);
          Value picture = emission.add(offset, emission.multiply(plane, planeStride));
          Value panel = times(emission.add(times(plane, form.taps), tap), width);
          Value at = emission.add(emission.multiply(emission.add(first, channel), two),
                                  emission.getConstant(ConvolutionTiles::listHeader));
          memref::StoreOp::create(builder, location, toWord(picture), listedSteps, ValueRange{at});
          Value next = emission.add(at, emission.getConstant(1));
          memref::StoreOp::create(builder, location, toWord(panel), listedSteps, ValueRange{next});
        });
      });
    });
  });
}

/// Forgets what another call has listed.
void ConvolutionEmitter::clearList() {
  Value none = arith::ConstantIntOp::create(builder, location, -1, 64);
  memref::StoreOp::create(builder, location, none, listedSteps, ValueRange{emission.getConstant(0)});
}

/// Leaves out of the copy what only skipped taps read.
void ConvolutionEmitter::boundCopy(PictureBox &box) {
  Value stride = emission.getConstant(form.pixelStride), vectorSize = emission.getConstant(lanes);
  Value step = emission.getConstant(tapAxes->pixels.step), one = emission.getConstant(1);
  Value lastTap =
      emission.maximum(pixelTaps.first, emission.subtract(emission.add(pixelTaps.first, pixelTaps.count), one));
  box.skipsBorder = true;
  box.firstVector = emission.divide(emission.divide(emission.multiply(pixelTaps.first, step), stride), vectorSize);
  Value end = emission.add(emission.divide(emission.multiply(lastTap, step), stride), pixels.count);
  box.endVector = emission.minimum(box.vectors, emission.ceilDivide(end, vectorSize));
}

/// A row of pixels whose taps do not all touch the picture.
void ConvolutionEmitter::multiplyListed(const PanelRow &at, const TapRange &rowTaps, Value channels) {
  Value ofTap = emission.multiply(emission.multiply(pixelTaps.count, depthTaps.count), channels);
  Value first = emission.add(emission.multiply(emission.multiply(rowTaps.first, ofTap), emission.getConstant(2)),
                             emission.getConstant(ConvolutionTiles::listHeader));
  Value depth = toWord(emission.multiply(rowTaps.count, ofTap));
  func::CallOp::create(builder, location, listedKernel,
                       ValueRange{toWord(positions), at.height, at.columns, depth, at.windows,
                                  emission.getPointer(listedSteps, first), at.weights, at.sums, at.block, at.weights,
                                  toWord(emission.getConstant(0))});
}
