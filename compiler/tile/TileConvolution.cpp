#include "compiler/tile/TileConvolution.h"

#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

ConvolutionTilingAttr tile::tileConvolution(ConvolutionForm &form, const DeviceDescription &device) {
  Type elementType = form.contraction.elementType;
  MicroKernelAttr kernel = getMicroKernel(device, elementType);
  ContractionBlocks blocks = ContractionBlocks::get(device, elementType.getIntOrFloatBitWidth() / 8);
  // Rows of whole micro-kernels, and as many rows as keep the accumulators of a tile in L2 next to the weights.
  int64_t pixels = 8 * kernel.getRows();
  int64_t channels = std::max<int64_t>(1, blocks.depth / form.taps);
  return ConvolutionTilingAttr::get(elementType.getContext(), kernel, pixels, 2 * pixels, blocks.panels, channels);
}

WeightGradientTilingAttr tile::tileWeightGradient(WeightGradientForm &form, const DeviceDescription &device) {
  MicroKernelAttr kernel = getMicroKernel(device, form.elementType);
  int64_t bytes = form.elementType.getIntOrFloatBitWidth() / 8;
  // The panel of the output gradient stays in L1, the copied picture in L2.
  int64_t places = device.getL1Bytes() * 3 / 4 / (kernel.getWidth() * bytes), plane = device.getL2Bytes() / 4 / bytes;
  return WeightGradientTilingAttr::get(form.compute.getContext(), kernel, places, plane);
}
