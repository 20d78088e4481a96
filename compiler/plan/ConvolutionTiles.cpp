#include "compiler/plan/ConvolutionTiles.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Scratch.h"
#include "compiler/plan/SizeOperations.h"
#include <numeric>

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

ConvolutionUnits ConvolutionUnits::get(ConvolutionForm &form) {
  ConvolutionUnits units;
  if (form.pooling) {
    units.rows = form.pooling->rows;
    units.pixels = form.pooling->pixels;
  }
  units.depthTaps = form.depthTaps;
  if (WinogradAttr layout = form.getTransformed()) {
    units.outputs = layout.getOutputs();
    units.values = layout.getPoints() * layout.getPoints();
    units.rows = std::lcm(units.rows, units.outputs);
    units.pixels = std::lcm(units.pixels, units.outputs);
  }
  return units;
}

ConvolutionTiles ConvolutionTiles::get(ConvolutionForm &form, ConvolutionTilingAttr tiling) {
  ContractionForm &contraction = form.contraction;
  MLIRContext *context = tiling.getContext();
  auto constant = [&](int64_t value) { return Expr::constant(context, value); };
  int64_t width = tiling.getKernel().getWidth(), lanes = tiling.getKernel().getLanes();
  ConvolutionTiles tiles;
  tiles.tiling = tiling;
  tiles.kernel = tiling.getKernel();
  WinogradAttr layout = form.getTransformed();
  if (tiling.getPictures() > 1)
    tiles.pictureLoops = form.getPictureLoops();
  llvm::copy_if(contraction.outer, std::back_inserter(tiles.otherLoops),
                [&](unsigned loop) { return !llvm::is_contained(tiles.pictureLoops, loop); });
  tiles.pictures = contraction.getExtent(tiles.pictureLoops);
  ConvolutionSizes<Expr> sizes{contraction.getExtent(tiles.otherLoops),
                               contraction.getExtent(contraction.m),
                               form.getRows(),
                               form.getPixels(),
                               contraction.getExtent(contraction.k.front()),
                               tiles.pictures};
  ConvolutionBlocks<Expr> blocks = getBlocks<Expr>(tiling, ConvolutionUnits::get(form), sizes, ExprOperations{context});
  tiles.channelBlocks = blocks.channelBlocks;
  tiles.channelStep = blocks.channelStep;
  tiles.pixelBlocks = blocks.pixelBlocks;
  tiles.pixelStep = blocks.pixelStep;
  tiles.mostPixels = blocks.mostPixels;
  tiles.rowBlocks = blocks.rowBlocks;
  tiles.rowStep = blocks.rowStep;
  tiles.mostRows = blocks.mostRows;
  tiles.columnBlocks = blocks.columnBlocks;
  tiles.columnStep = blocks.panelStep * width;
  tiles.pictureBlocks = blocks.pictureBlocks;
  tiles.pictureStep = blocks.pictureStep;
  tiles.tiles = blocks.tiles;

  // Rows are copied in whole vectors.
  tiles.copiedPixelStride = layout ? layout.getOutputs() : form.pixelStride;
  Expr inRun =
      layout ? Expr::floorDiv(tiles.pixelStep, layout.getOutputs()) + (layout.getPoints() - 1) / layout.getOutputs()
             : tiles.pixelStep + (form.pixelSpan - 1) / form.pixelStride;
  tiles.run = Expr::ceilDiv(inRun * tiles.pictureStep, lanes) * lanes;
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
  tiles.sums =
      ((layout ? constant(1) : blocks.panelStep) * tiles.rowStep * tiles.pixelStep + lanes) * tiles.pictureStep * width;
  tiles.square = constant(lanes * lanes);
  tiles.begins = tiles.pictureStep;
  if (tiling.getSkipTaps())
    tiles.listedSteps = planes * (2 * form.taps) + (listHeader + 2 * listedAhead);
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
  transformed.panels = Expr::min(blocks.panelStep, (tiles.channelBlocks - 1) * blocks.panelStep + 1);
  transformed.products = transformed.panelStride * transformed.panels;
  return tiles;
}

Expr ConvolutionTiles::getScratch(Type elementType) const {
  Expr bytes = getScratchBytes(planes, elementType) +
               getScratchBytes(offsets, IntegerType::get(elementType.getContext(), 64)) +
               getScratchBytes(sums, elementType) + getScratchBytes(square, elementType);
  if (!pictureLoops.empty())
    bytes = bytes + getScratchBytes(begins, IntegerType::get(elementType.getContext(), 64));
  if (tiling.getSkipTaps())
    bytes = bytes + getScratchBytes(listedSteps, IntegerType::get(elementType.getContext(), 64));
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
