#include "compiler/plan/ConvolutionTiles.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

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
  int64_t rowUnit = form.pooling ? form.pooling->rows : 1, pixelUnit = form.pooling ? form.pooling->pixels : 1;
  int64_t mostPixels = std::max<int64_t>(1, tiling.getPixels() / pixelUnit);
  divide(Expr::floorDiv(form.getPixels(), pixelUnit), constant(mostPixels), tiles.pixelBlocks, tiles.pixelStep);
  tiles.pixelStep = tiles.pixelStep * pixelUnit;
  tiles.mostPixels = constant(mostPixels * pixelUnit);
  Expr rows = Expr::floorDiv(constant(tiling.getArea()), tiles.pixelStep * rowUnit);
  if (tiling.getArea() < mostPixels * pixelUnit * rowUnit)
    rows = Expr::max(constant(1), rows);
  divide(Expr::floorDiv(form.getRows(), rowUnit), rows, tiles.rowBlocks, tiles.rowStep);
  tiles.rowStep = tiles.rowStep * rowUnit;
  tiles.mostRows = rows * rowUnit;
  // Few blocks of pixels have fewer panels each: there must be enough tiles for all workers.
  Expr others = contraction.getExtent(contraction.outer) * tiles.rowBlocks * tiles.pixelBlocks;
  Expr panels = Expr::ceilDiv(contraction.getExtent(contraction.m), width), panelStep;
  Expr most = Expr::floorDiv(panels * others, tiling.getLeastTiles());
  divide(panels, Expr::max(constant(1), Expr::min(constant(tiling.getPanels()), most)), tiles.columnBlocks, panelStep);
  tiles.columnStep = panelStep * width;
  // Sums over no channels are zeros, which a block writes.
  Expr channels = contraction.getExtent(contraction.k.front());
  tiles.channelBlocks = Expr::max(constant(1), Expr::ceilDiv(channels, constant(tiling.getChannels())));
  tiles.channelStep = Expr::ceilDiv(channels, tiles.channelBlocks);
  tiles.tiles = contraction.getExtent(contraction.outer) * tiles.columnBlocks * tiles.rowBlocks * tiles.pixelBlocks;

  // Rows are copied in whole vectors.
  tiles.run = Expr::ceilDiv(tiles.pixelStep + (form.pixelSpan - 1) / form.pixelStride, lanes) * lanes;
  tiles.rowPitch = tiles.run * form.pixelStride;
  tiles.copiedStride = form.rowSpan == 1 ? 1 : form.rowStride;
  Expr planeRows = (tiles.rowStep - 1) * tiles.copiedStride + form.rowSpan;
  tiles.planeStride = planeRows * tiles.rowPitch + lanes;
  tiles.planes = tiles.channelStep * tiles.planeStride + lanes;
  if (form.mayBeInPlace())
    tiles.pictureStride = getStrides(contraction.compute, form.picture)->strides[contraction.k.front()];
  tiles.offsets = tiles.channelStep * form.taps;
  tiles.sums = panelStep * tiles.rowStep * tiles.pixelStep * width + lanes * width;
  tiles.square = constant(lanes * lanes);
  return tiles;
}

Expr ConvolutionTiles::getScratch(Type elementType) const {
  return getScratchBytes(planes, elementType) +
         getScratchBytes(offsets, IntegerType::get(elementType.getContext(), 64)) + getScratchBytes(sums, elementType) +
         getScratchBytes(square, elementType);
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
