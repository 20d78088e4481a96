#include "compiler/plan/WeightGradientTiles.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// `total` in equal blocks of at most `most`.
struct Blocks {
  Expr count, step;

  Blocks(Expr total, Expr most) {
    Expr one = Expr::constant(total.context(), 1);
    count = Expr::ceilDiv(total, Expr::max(one, most));
    step = Expr::ceilDiv(total, Expr::max(one, count));
  }
};

} // namespace

/// Blocks of rows of squares of one image, or of some images where these have few squares.
static void divideSquares(WeightGradientTiles &tiles, WeightGradientForm &form) {
  WeightGradientTilingAttr tiling = tiles.tiling;
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  int64_t outputs = tiling.getOutputs(), points = WinogradTransforms::getNumPoints(outputs), values = points * points;
  Expr one = constant(1), inRow = Expr::ceilDiv(form.getPlaces(), outputs);
  tiles.pitch = inRow * outputs + (WinogradTransforms::taps - 1);
  tiles.panelPitch = inRow * outputs;
  Expr most = Expr::floorDiv(constant(tiling.getTransformed() / values), tiles.pixelPitch);
  Expr ofPlane = Expr::floorDiv(constant(tiling.getPlane() / outputs), Expr::max(one, tiles.pitch * tiles.pixelPitch));
  Expr ofSquares = Expr::floorDiv(most, Expr::max(one, inRow));
  Blocks rows(Expr::ceilDiv(form.getRows(), outputs), Expr::min(ofPlane, ofSquares));
  tiles.rowBlocks = rows.count;
  tiles.rowStep = rows.step * outputs;
  // Several images only where one has a single block of rows.
  Expr ofImage = rows.step * inRow, isWhole = Expr::floorDiv(one, Expr::max(one, rows.count));
  Blocks images(form.getSlices(), Expr::floorDiv(most, Expr::max(one, ofImage)) * isWhole);
  tiles.imageBlocks = images.count;
  tiles.imageStep = images.step;

  TransformedGradientTiles &transformed = tiles.transformed.emplace();
  transformed.outputs = outputs;
  transformed.values = values;
  transformed.squaresInRow = inRow;
  transformed.squares = images.step * ofImage;
  // Values lie in different sets of the caches.
  int64_t lanes = tiling.getKernel().getLanes();
  transformed.pictureStride = transformed.squares * tiles.pixelPitch + lanes;
  transformed.picture = transformed.pictureStride * values;
  transformed.gradientStride = transformed.squares * tiling.getKernel().getWidth() + lanes;
  transformed.gradient = transformed.gradientStride * values;
}

/// Rows of one image, whose panel of the output gradient and copied picture are kept.
static void divideRows(WeightGradientTiles &tiles, WeightGradientForm &form) {
  WeightGradientTilingAttr tiling = tiles.tiling;
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr one = constant(1);
  tiles.pitch = form.getPitch();
  tiles.panelPitch = form.getPlaces();
  tiles.imageBlocks = form.getSlices();
  tiles.imageStep = one;
  int64_t places = tiling.getPlaces();
  if (tiling.getApart())
    places = std::min(places, WeightGradientTiles::mostApart);
  Expr ofPanel = Expr::floorDiv(constant(places), Expr::max(one, form.getPlaces()));
  Expr ofPlane = Expr::floorDiv(constant(tiling.getPlane() / (form.row ? form.row->stride : 1)),
                                Expr::max(one, tiles.pitch * tiles.pixelPitch));
  Blocks rows(form.getRows(), Expr::min(ofPanel, ofPlane));
  tiles.rowBlocks = rows.count;
  tiles.rowStep = rows.step;
}

/// Each tile packs what it reads anew: where channels in are the more, tiles have parts of these, and else panels.
static void divideChannels(WeightGradientTiles &tiles, WeightGradientForm &form) {
  WeightGradientTilingAttr tiling = tiles.tiling;
  // A tile's channels are several blocks of the micro-kernel.
  constexpr int64_t fewestChannels = 64;
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr one = constant(1), channels = form.getExtent(form.channel);
  Expr areMore = Expr::min(one, Expr::floorDiv(channels, Expr::max(one, form.getExtent(form.column))));
  Expr blocks = Expr::min(constant(tiling.getLeastTiles()), Expr::floorDiv(channels, fewestChannels));
  tiles.channelBlocks = one + areMore * (Expr::max(one, blocks) - 1);
  tiles.channelStep = tiles.pixelPitch = Expr::ceilDiv(channels, tiles.channelBlocks);
}

WeightGradientTiles WeightGradientTiles::get(WeightGradientForm &form, WeightGradientTilingAttr tiling) {
  int64_t width = tiling.getKernel().getWidth(), lanes = tiling.getKernel().getLanes();
  auto constant = [&](int64_t value) { return Expr::constant(tiling.getContext(), value); };
  Expr one = constant(1), channels = form.getExtent(form.channel);
  int64_t rowStride = form.row ? form.row->stride : 1, rowDilation = form.row ? form.row->dilation : 1;
  WeightGradientTiles tiles;
  tiles.tiling = tiling;
  tiles.kernel = tiling.getKernel();
  tiles.channelBlocks = one;
  tiles.channelStep = tiles.pixelPitch = channels;
  if (tiling.getOutputs()) {
    Blocks blocks(channels, constant(tiling.getChannels()));
    tiles.channelBlocks = Expr::max(one, blocks.count);
    tiles.channelStep = tiles.pixelPitch = Expr::max(one, Expr::ceilDiv(blocks.step, lanes)) * lanes;
    divideSquares(tiles, form);
  } else {
    if (tiling.getApart())
      divideChannels(tiles, form);
    divideRows(tiles, form);
  }
  tiles.planeRows = Expr::max(tiles.rowStep - 1, constant(0)) * rowStride + (form.getRowTaps() - 1) * rowDilation + 1;
  Expr sumRows = tiles.transformed ? tiles.channelStep : Expr::ceilDiv(form.getPixelTaps() * tiles.channelStep, 2) * 2;
  tiles.sumStep = sumRows * width + (tiles.transformed ? lanes : 0);
  tiles.panelSums = (tiles.transformed ? constant(tiles.transformed->values) : form.getRowTaps()) * tiles.sumStep;
  Expr outer = tiles.channelBlocks, panels = Expr::ceilDiv(form.getExtent(form.column), width);
  for (unsigned loop : form.outer)
    outer = outer * form.getExtent(loop);
  Expr most = Expr::min(Expr::floorDiv(constant(tiling.getSums()), tiles.panelSums),
                        Expr::floorDiv(panels * outer, tiling.getLeastTiles()));
  tiles.panelBlocks = Expr::ceilDiv(panels, Expr::max(one, most));
  tiles.panelStep = Expr::ceilDiv(panels, tiles.panelBlocks);
  tiles.tiles = outer * tiles.panelBlocks;
  // The transposition writes whole squares, and vectors reach past the ends of rows.
  tiles.planes = (tiles.planeRows * tiles.pitch + lanes) * tiles.pixelPitch + lanes;
  if (tiling.getApart())
    tiles.planes = tiles.channelStep * channelPitch;
  tiles.offsets = tiles.transformed ? tiles.transformed->squares : tiles.rowStep * form.getPlaces();
  tiles.panel = (tiles.rowStep * tiles.panelPitch + lanes) * width;
  tiles.sums = tiles.panelSums * tiles.panelStep;
  return tiles;
}

Expr WeightGradientTiles::getScratch(Type elementType) const {
  Expr bytes = getScratchBytes(planes, elementType) +
               getScratchBytes(offsets, IntegerType::get(elementType.getContext(), 64)) +
               getScratchBytes(panel, elementType) + getScratchBytes(sums, elementType);
  if (transformed)
    bytes = bytes + getScratchBytes(transformed->picture, elementType) +
            getScratchBytes(transformed->gradient, elementType);
  return bytes;
}
