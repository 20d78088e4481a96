#include "compiler/tile/TileConvolution.h"

#include "compiler/tile/TileContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

ConvolutionTilingAttr tile::tileConvolution(ConvolutionForm &form, const DeviceDescription &device, bool isStage) {
  Type elementType = form.contraction.elementType;
  MicroKernelAttr kernel = getMicroKernel(device, elementType);
  ContractionBlocks blocks = ContractionBlocks::get(device, elementType.getIntOrFloatBitWidth() / 8);
  // Rows of whole micro-kernels, and as many rows as keep the accumulators of a tile in L2 next to the weights.
  int64_t area = 16 * kernel.getRows(), pixels = form.rowLoop ? area / 2 : area;
  int64_t channels = std::max<int64_t>(1, blocks.depth / (form.depthTaps * form.taps));
  // Enough tiles for every worker, as many as copying allows: without taps it takes about as long as a panel, for each
  // tile.
  int64_t leastTiles = isStage ? 1 : form.mayBeInPlace() ? 32 : form.taps * form.depthTaps > 1 ? 16 : 8;
  constexpr int64_t prefetchChannels = 8;
  // Half of L2: from farther away, lines of as many channels come faster one channel after the other.
  int64_t inPlace = device.getL2Bytes() / 2 / (elementType.getIntOrFloatBitWidth() / 8);
  int64_t transformed = 0;
  if (WinogradAttr layout = form.getTransformed()) {
    // The transformed picture takes half of L2, in blocks of channels where these leave too few squares; weights pass
    // by.
    int64_t values = layout.getPoints() * layout.getPoints();
    transformed = inPlace;
    channels = std::max<int64_t>(1, transformed / (values * kernel.getRows() * form.depthTaps));
    pixels = area = 2 * kernel.getRows() * layout.getOutputs();
    // Each tile transforms its picture anew: no more tiles than there may be workers.
    leastTiles = std::clamp<int64_t>(device.units, 2, 16);
  }
  return ConvolutionTilingAttr::get(elementType.getContext(), kernel, pixels, area, blocks.panels, channels, leastTiles,
                                    prefetchChannels, inPlace, transformed);
}
