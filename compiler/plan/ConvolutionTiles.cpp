#include "compiler/plan/ConvolutionTiles.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Scratch.h"
#include <numeric>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Pixels of a tile whose transformed picture has at most as many elements as the tiling allows, or a block of squares.
static Expr getTransformedArea(ConvolutionForm &form, Expr planes, WinogradAttr layout, ConvolutionTilingAttr tiling) {
  ContractionForm &contraction = form.contraction;
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  int64_t values = layout.getPoints() * layout.getPoints(), pixels = layout.getOutputs() * layout.getOutputs();
  int64_t most = tiling.getTransformed(), few = most / 4;
  // Weights that stay in the cache may be read again for each of many small tiles.
  Expr weights = form.getPlanes() * contraction.getExtent(contraction.m) * values;
  Expr elements = Expr::min(constant(1), Expr::floorDiv(weights, constant(most))) * (most - few) + few;
  Expr squares = Expr::floorDiv(elements, Expr::max(constant(1), planes) * values);
  return Expr::max(constant(tiling.getKernel().getRows()), squares) * pixels;
}

ConvolutionTiles ConvolutionTiles::get(ConvolutionForm &form, ConvolutionTilingAttr tiling) {
  ContractionForm &contraction = form.contraction;
  MLIRContext *context = tiling.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  int64_t width = tiling.getKernel().getWidth(), lanes = tiling.getKernel().getLanes();
  ConvolutionTiles tiles;
  tiles.tiling = tiling;
  // Blocks of about equal size, at most `most`; none of nothing. No maxima, which expand into several terms, where a size
  // of 0 leaves nothing to compute: factors of the number of tiles.
  auto divide = [](Expr extent, Expr most, Expr &count, Expr &step) {
    count = Expr::ceilDiv(extent, most);
    step = Expr::ceilDiv(extent, count);
  };
  // Sums over no channels are zeros, which a block writes.
  Expr channels = contraction.getExtent(contraction.k.front());
  tiles.channelBlocks = Expr::max(constant(1), Expr::ceilDiv(channels, constant(tiling.getChannels())));
  tiles.channelStep = Expr::ceilDiv(channels, tiles.channelBlocks);

  WinogradAttr layout = form.getTransformed();
  int64_t rowUnit = form.pooling ? form.pooling->rows : 1, pixelUnit = form.pooling ? form.pooling->pixels : 1;
  Expr area = constant(tiling.getArea());
  if (layout) {
    rowUnit = std::lcm(rowUnit, layout.getOutputs());
    pixelUnit = std::lcm(pixelUnit, layout.getOutputs());
    area = getTransformedArea(form, tiles.channelStep * form.depthTaps, layout, tiling);
  }
  int64_t mostPixels = std::max<int64_t>(1, tiling.getPixels() / pixelUnit);
  divide(Expr::ceilDiv(form.getPixels(), pixelUnit), constant(mostPixels), tiles.pixelBlocks, tiles.pixelStep);
  tiles.pixelStep = tiles.pixelStep * pixelUnit;
  tiles.mostPixels = constant(mostPixels * pixelUnit);
  Expr rows = Expr::floorDiv(area, tiles.pixelStep * rowUnit);
  if (layout || tiling.getArea() < mostPixels * pixelUnit * rowUnit)
    rows = Expr::max(constant(1), rows);
  divide(Expr::ceilDiv(form.getRows(), rowUnit), rows, tiles.rowBlocks, tiles.rowStep);
  tiles.rowStep = tiles.rowStep * rowUnit;
  tiles.mostRows = rows * rowUnit;
  // Few blocks of pixels have fewer panels each: there must be enough tiles for all workers.
  Expr others = contraction.getExtent(contraction.outer) * tiles.rowBlocks * tiles.pixelBlocks;
  Expr panels = Expr::ceilDiv(contraction.getExtent(contraction.m), width), panelStep;
  Expr most = Expr::floorDiv(panels * others, tiling.getLeastTiles());
  divide(panels, Expr::max(constant(1), Expr::min(constant(tiling.getPanels()), most)), tiles.columnBlocks, panelStep);
  tiles.columnStep = panelStep * width;
  tiles.tiles = contraction.getExtent(contraction.outer) * tiles.columnBlocks * tiles.rowBlocks * tiles.pixelBlocks;

  // Rows are copied in whole vectors.
  tiles.copiedPixelStride = layout ? layout.getOutputs() : form.pixelStride;
  Expr inRun =
      layout ? Expr::floorDiv(tiles.pixelStep, layout.getOutputs()) + (layout.getPoints() - 1) / layout.getOutputs()
             : tiles.pixelStep + (form.pixelSpan - 1) / form.pixelStride;
  tiles.run = Expr::ceilDiv(inRun, lanes) * lanes;
  tiles.rowPitch = tiles.run * tiles.copiedPixelStride;
  tiles.copiedStride = form.rowSpan == 1 ? 1 : form.rowStride;
  Expr planeRows = (tiles.rowStep - 1) * tiles.copiedStride + form.rowSpan;
  tiles.planeStride = planeRows * tiles.rowPitch + lanes;
  Expr planes = tiles.channelStep * form.depthTaps;
  tiles.planes = (layout ? constant(form.depthTaps) : planes) * tiles.planeStride + lanes;
  if (form.mayBeInPlace())
    tiles.pictureStride = getStrides(contraction.compute, form.picture)->strides[contraction.k.front()];
  tiles.offsets = planes * (layout ? 1 : form.taps);
  // Transformed products become sums panel by panel.
  tiles.sums = (layout ? constant(1) : panelStep) * tiles.rowStep * tiles.pixelStep * width + lanes * width;
  tiles.square = constant(lanes * lanes);
  if (!layout)
    return tiles;
  TransformedTiles &transformed = tiles.transformed.emplace();
  int64_t outputs = layout.getOutputs(), values = layout.getPoints() * layout.getPoints();
  transformed.layout = layout;
  transformed.squaresInRow = Expr::floorDiv(tiles.pixelStep, outputs);
  transformed.squares = transformed.squaresInRow * Expr::floorDiv(tiles.rowStep, outputs);
  // Rows of squares are stored in whole vectors; values lie in different sets of the caches.
  transformed.pictureStride = planes * transformed.squares + lanes;
  transformed.picture = transformed.pictureStride * values + lanes;
  transformed.productStride = transformed.squares * width + lanes;
  transformed.panelStride = transformed.productStride * values;
  transformed.panels = Expr::min(panelStep, (tiles.channelBlocks - 1) * panelStep + 1);
  transformed.products = transformed.panelStride * transformed.panels;
  return tiles;
}

Expr ConvolutionTiles::getScratch(Type elementType) const {
  Expr bytes = getScratchBytes(planes, elementType) +
               getScratchBytes(offsets, IntegerType::get(elementType.getContext(), 64)) +
               getScratchBytes(sums, elementType) + getScratchBytes(square, elementType);
  if (transformed)
    bytes = bytes + getScratchBytes(transformed->picture, elementType) +
            getScratchBytes(transformed->products, elementType);
  return bytes;
}

Expr ConvolutionTiles::getMostScratch(ConvolutionForm &form) const {
  ConvolutionTiles most = *this;
  int64_t lanes = tiling.getKernel().getLanes(), width = tiling.getKernel().getWidth();
  Expr planeRows = (mostRows - 1) * copiedStride + form.rowSpan;
  most.planes = channelStep * (planeRows * rowPitch + lanes) + lanes;
  // Fewer rows may leave more panels to a tile.
  Expr panels = Expr::ceilDiv(form.contraction.getExtent(form.contraction.m), width);
  most.sums =
      Expr::min(panels, Expr::constant(tiling.getContext(), tiling.getPanels())) * mostRows * pixelStep * width +
      lanes * width;
  return most.getScratch(form.contraction.elementType);
}
