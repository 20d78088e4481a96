#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/TransformKernels.h"
#include "compiler/codegen/cpu/WeightGradientEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

/// Rows of squares of a part.
Value WeightGradientEmitter::countRows(const Part &part) {
  return emission.ceilDivide(part.rows, emission.getConstant(tiles.transformed->outputs));
}

/// Squares of so many images of a part.
Value WeightGradientEmitter::countSquares(Value images, const Part &part) {
  return emission.multiply(images,
                           emission.multiply(countRows(part), emission.getSize(tiles.transformed->squaresInRow)));
}

/// Offsets of squares within a value of the transformed picture.
void WeightGradientEmitter::emitSquareOffsets() {
  Value pitch = emission.getSize(tiles.pixelPitch);
  emission.forRange(emission.getConstant(0), emission.getSize(tiles.offsets), 1, [&](Value square) {
    memref::StoreOp::create(builder, location, toWord(emission.multiply(square, pitch)), offsets, ValueRange{square});
  });
}

/// Transforms the tile's channels of the picture, image by image.
void WeightGradientEmitter::transformPicture(const Part &part) {
  const tile::TransformedGradientTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), pitch = emission.getSize(tiles.pixelPitch);
  Value border = emission.getSize(form.getRowTaps() - 1), lanesOfVector = emission.getConstant(lanes);
  Value used = emission.multiply(emission.ceilDivide(channels, lanesOfVector), lanesOfVector);
  emission.forRange(zero, part.images, 1, [&](Value image) {
    Value covered = emission.multiply(countRows(part), emission.getConstant(parts.outputs));
    copyPicture(emission.add(part.firstImage, image), part.firstRow, emission.add(covered, border));
    Value target = emission.multiply(countSquares(image, part), pitch);
    func::CallOp::create(
        builder, location, pictureKernel,
        ValueRange{toWord(countRows(part)), toWord(emission.getSize(parts.squaresInRow)), toWord(pitch), toWord(used),
                   emission.getPointer(planes, zero), toWord(emission.multiply(emission.getSize(tiles.pitch), pitch)),
                   emission.getPointer(transformedPicture, target), toWord(emission.getSize(parts.pictureStride))});
  });
}

/// Transforms the current panel of the output gradient, image by image. Positions beyond its end are zeros.
void WeightGradientEmitter::transformGradient(const Part &part) {
  const tile::TransformedGradientTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), panelWidth = emission.getConstant(width);
  emission.forRange(zero, part.images, 1, [&](Value image) {
    packGradient(emission.add(part.firstImage, image), part.firstRow, part.rows);
    Value target = emission.multiply(countSquares(image, part), panelWidth);
    func::CallOp::create(builder, location, gradientKernel,
                         ValueRange{toWord(countRows(part)), toWord(emission.getSize(parts.squaresInRow)),
                                    toWord(panelWidth), toWord(panelWidth), emission.getPointer(panel, zero),
                                    toWord(emission.getSize(tiles.panelPitch * width)),
                                    emission.getPointer(transformedGradient, target),
                                    toWord(emission.getSize(parts.gradientStride))});
  });
}

/// A product of matrices for each value of the transforms: channels in by squares, by channels out.
void WeightGradientEmitter::multiplySquares(const Part &part) {
  const tile::TransformedGradientTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), height = getBlockHeight(emission, channels, kernelShape.getRows());
  Value depth = countSquares(part.images, part);
  emission.forRange(zero, emission.getConstant(parts.values), 1, [&](Value value) {
    auto ofValue = [&](Value memory, sym::Expr stride) {
      return emission.getPointer(memory, emission.multiply(value, emission.getSize(stride)));
    };
    Value gradient = ofValue(transformedGradient, parts.gradientStride);
    Value sum = emission.add(firstSum, emission.multiply(value, emission.getSize(tiles.sumStep)));
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(channels), toWord(height), toWord(emission.getConstant(width)),
                                    toWord(depth), ofValue(transformedPicture, parts.pictureStride),
                                    emission.getPointer(offsets, zero), gradient, emission.getPointer(sums, sum),
                                    part.accumulates, gradient,
                                    toWord(emission.getConstant(getPanelLines(form.elementType, kernelShape)))});
  });
}

/// The current panel's sums of taps, in the places of its first values.
void WeightGradientEmitter::transformSums() {
  func::CallOp::create(
      builder, location, sumsKernel,
      ValueRange{toWord(channels), emission.getPointer(sums, firstSum), toWord(emission.getSize(tiles.sumStep))});
}
