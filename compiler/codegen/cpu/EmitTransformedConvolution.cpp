#include "compiler/codegen/cpu/ConvolutionEmitter.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/TransformKernels.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

/// Squares that cover the rows, or the pixels of a row, of a tile.
Value ConvolutionEmitter::countSquares(const AxisRange &span) {
  return emission.ceilDivide(span.count, emission.getConstant(tiles.transformed->layout.getOutputs()));
}

/// Copies the picture channel by channel, with its border, and transforms each copy while it is in L1.
void ConvolutionEmitter::transformPicture(const AxisRange &channels) {
  const tile::TransformedTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), depthTaps = emission.getConstant(form.depthTaps);
  emission.forRange(zero, channels.count, 1, [&](Value channel) {
    copyPlanes({emission.add(channels.first, channel), emission.getConstant(1)});
    emission.forRange(zero, depthTaps, 1, [&](Value depthTap) {
      Value plane = emission.add(emission.multiply(channel, depthTaps), depthTap);
      Value copied = emission.multiply(depthTap, emission.getSize(tiles.planeStride));
      Value target = emission.multiply(plane, emission.getSize(parts.squares));
      func::CallOp::create(builder, location, pictureKernel,
                           ValueRange{toWord(countSquares(rows)), toWord(countSquares(pixels)),
                                      emission.getPointer(planes, copied), toWord(emission.getSize(tiles.rowPitch)),
                                      toWord(emission.getSize(tiles.run)), emission.getPointer(transformed, target),
                                      toWord(emission.getSize(parts.pictureStride))});
    });
  });
}

/// The products of a panel for a value of the transforms.
Value ConvolutionEmitter::getProducts(Value column, Value value) {
  const tile::TransformedTiles &parts = *tiles.transformed;
  Value panel = emission.divide(emission.subtract(column, columns.first), emission.getConstant(width));
  Value kept = emission.minimum(panel, emission.getSize(parts.panels - 1));
  Value index = emission.add(emission.multiply(kept, emission.getSize(parts.panelStride)),
                             emission.multiply(value, emission.getSize(parts.productStride)));
  return emission.getPointer(products, index);
}

/// A product of matrices for each value of the transforms: squares by channels in, by channels out.
void ConvolutionEmitter::multiplyTransformed(Value column, const AxisRange &channels) {
  const tile::TransformedTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), one = emission.getConstant(1);
  Value squares = emission.multiply(countSquares(rows), countSquares(pixels));
  Value height = getBlockHeight(emission, squares, kernelShape.getRows());
  Value values = emission.getConstant(parts.getNumValues()), panelWidth = emission.getConstant(width);
  Value ofValue = emission.multiply(emission.getSize(form.getPlanes()), panelWidth);
  Value weights = emission.getBuffer(contraction.compute.getInputs()[form.weights]);
  Value firstValue = emission.multiply(emission.divide(column, panelWidth), values);
  Value firstPlane = emission.multiply(channels.first, emission.getConstant(form.depthTaps * width));
  Value planeCount = emission.multiply(channels.count, emission.getConstant(form.depthTaps));
  auto getFilters = [&](Value value) {
    Value at = emission.add(emission.multiply(emission.add(firstValue, value), ofValue), firstPlane);
    return emission.getPointer(weights, at);
  };
  emission.forRange(zero, values, 1, [&](Value value) {
    Value picture = emission.multiply(value, emission.getSize(parts.pictureStride));
    func::CallOp::create(builder, location, kernel,
                         ValueRange{toWord(squares), toWord(height), toWord(panelWidth), toWord(planeCount),
                                    emission.getPointer(transformed, picture), emission.getPointer(offsets, zero),
                                    getFilters(value), getProducts(column, value), toWord(channels.block),
                                    getFilters(emission.add(value, one)), toWord(zero)});
  });
}

/// Sums of the tile's pixels from the products of a panel.
void ConvolutionEmitter::transformProducts(Value column) {
  const tile::TransformedTiles &parts = *tiles.transformed;
  Value zero = emission.getConstant(0), rowPitch = emission.getSize(tiles.pixelStep * width);
  func::CallOp::create(builder, location, productKernel,
                       ValueRange{toWord(countSquares(rows)), toWord(countSquares(pixels)), getProducts(column, zero),
                                  toWord(emission.getSize(parts.productStride)),
                                  emission.getPointer(sums, getPanelSums(column, zero)), toWord(rowPitch)});
}
