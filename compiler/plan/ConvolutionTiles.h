#ifndef FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H

#include "compiler/plan/ConvolutionForm.h"

namespace freestone::tile {

/// What decides the blocks of a convolution beside its sizes.
struct ConvolutionUnits {
  /// Rows and pixels that stay together: of a pooling, and of squares of transformed filters.
  int64_t rows = 1, pixels = 1;
  int64_t depthTaps = 1;
  /// The width of the squares of transformed filters, and the values of one: none where these are direct.
  int64_t outputs = 0, values = 0;

  static ConvolutionUnits get(ConvolutionForm &form);
};

/// Outer loops but for those over pictures that may go together, channels out, rows, pixels of a row, channels in;
/// these pictures.
template <typename Size> struct ConvolutionSizes { Size outer, columns, rows, pixels, channels, pictures; };

/// Blocks of a convolution, as of `ConvolutionTiles`, with the panels of a tile.
template <typename Size> struct ConvolutionBlocks {
  Size channelBlocks, channelStep, pixelBlocks, pixelStep, mostPixels, rowBlocks, rowStep, mostRows, columnBlocks,
      panelStep, pictureBlocks, pictureStep, tiles;
};

/// The blocks at any sizes, on integers or size expressions, whose operations are `on`'s.
template <typename Size, typename Tiling, typename Operations>
ConvolutionBlocks<Size> getBlocks(Tiling tiling, const ConvolutionUnits &units, const ConvolutionSizes<Size> &sizes,
                                  const Operations &on) {
  ConvolutionBlocks<Size> blocks;
  // Blocks of about equal size, at most `most`; none of nothing. No maxima, which expand into several terms, where a
  // size of 0 leaves nothing to compute: factors of the number of tiles.
  auto divide = [&](Size extent, Size most, Size &count, Size &step) {
    count = on.ceilDiv(extent, most);
    step = on.ceilDiv(extent, count);
  };
  // Sums over no channels are zeros, which a block writes.
  blocks.channelBlocks = on.max(on.constant(1), on.ceilDiv(sizes.channels, on.constant(tiling.getChannels())));
  blocks.channelStep = on.ceilDiv(sizes.channels, blocks.channelBlocks);

  int64_t mostPixels = std::max<int64_t>(1, tiling.getPixels() / units.pixels);
  divide(on.ceilDiv(sizes.pixels, on.constant(units.pixels)), on.constant(mostPixels), blocks.pixelBlocks,
         blocks.pixelStep);
  blocks.pixelStep = blocks.pixelStep * units.pixels;
  blocks.mostPixels = on.constant(mostPixels * units.pixels);
  Size area = on.constant(tiling.getArea());
  if (units.values) {
    // As many squares as the tiling allows, or a block of the micro-kernel.
    Size planes = blocks.channelStep * units.depthTaps;
    Size squares = on.floorDiv(on.constant(tiling.getTransformed()), on.max(on.constant(1), planes) * units.values);
    area = on.max(on.constant(tiling.getKernel().getRows()), squares) * (units.outputs * units.outputs);
  }
  Size rows = on.floorDiv(area, blocks.pixelStep * units.rows);
  if (units.values || tiling.getArea() < mostPixels * units.pixels * units.rows)
    rows = on.max(on.constant(1), rows);
  divide(on.ceilDiv(sizes.rows, on.constant(units.rows)), rows, blocks.rowBlocks, blocks.rowStep);
  blocks.rowStep = blocks.rowStep * units.rows;
  blocks.mostRows = rows * units.rows;
  // Pictures fill the area together where one does not.
  blocks.pictureBlocks = sizes.pictures;
  blocks.pictureStep = on.constant(1);
  if (tiling.getPictures() > 1) {
    Size together = on.floorDiv(area, blocks.rowStep * blocks.pixelStep);
    if (tiling.getArea() < mostPixels * units.pixels * units.rows)
      together = on.max(on.constant(1), together);
    divide(sizes.pictures, on.min(on.constant(tiling.getPictures()), together), blocks.pictureBlocks,
           blocks.pictureStep);
  }
  // Few blocks of pixels have fewer panels each: there must be enough tiles for all workers.
  Size others = sizes.outer * blocks.pictureBlocks * blocks.rowBlocks * blocks.pixelBlocks;
  Size panels = on.ceilDiv(sizes.columns, on.constant(tiling.getKernel().getWidth()));
  Size most = on.floorDiv(panels * others, on.constant(tiling.getLeastTiles()));
  divide(panels, on.max(on.constant(1), on.min(on.constant(tiling.getPanels()), most)), blocks.columnBlocks,
         blocks.panelStep);
  blocks.tiles = sizes.outer * blocks.pictureBlocks * blocks.columnBlocks * blocks.rowBlocks * blocks.pixelBlocks;
  return blocks;
}

/// The parts of a tile whose filters are transformed: the picture is transformed in squares (see WinogradTransforms),
/// each of whose values is multiplied by itself, and the products are transformed back into the tile's sums.
struct TransformedTiles {
  WinogradAttr layout;
  /// Squares in a row of the largest tile, and in all of it.
  sym::Expr squaresInRow, squares;
  /// Elements between values of the transformed picture, which are [values][planes][squares]; all of them.
  sym::Expr pictureStride, picture;
  /// Elements between values of a panel's products, which are [panels][values][squares][width]; between panels; all.
  sym::Expr productStride, panelStride, products;
  /// Panels of products that are kept: one where all channels are summed at once.
  sym::Expr panels;

  int64_t getNumValues() const { return layout.getPoints() * layout.getPoints(); }
};

/// The geometry of a tiled convolution. A tile is a rectangle of pixels (whole rectangles of a pooling, whole squares
/// of transformed filters) of a picture, or of several ones, for some panels of output channels; tiles are outer loops
/// times blocks of pictures times panel blocks times row blocks times pixel blocks, row-major.
struct ConvolutionTiles {
  ConvolutionTilingAttr tiling;
  MicroKernelAttr kernel;
  /// Loops over pictures that go together; none where they go one by one, and all outer loops are others.
  llvm::SmallVector<unsigned> pictureLoops, otherLoops;
  sym::Expr pictures, pictureBlocks, pictureStep;
  /// Of output channels; the step is a multiple of the panel width.
  sym::Expr columnBlocks, columnStep;
  sym::Expr rowBlocks, rowStep;
  sym::Expr pixelBlocks, pixelStep;
  /// The most rows and pixels of a row that a tile has, however many there are.
  sym::Expr mostRows, mostPixels;
  /// Of input channels, summed in order; at least one block, so that an empty sum is written as well.
  sym::Expr channelBlocks, channelStep;
  sym::Expr tiles;

  /// The copy of the picture for a tile, with its border: elements of a run, the pitch of rows, and the stride of
  /// channels. A row is deinterleaved into as many runs as the pixels' stride (see `WindowTiles`), and each of its
  /// pixels is that of all pictures, one after the other.
  sym::Expr run, rowPitch, planeStride;
  /// The stride of channels in the picture, where it may be read in place; null elsewhere.
  sym::Expr pictureStride;
  /// The window's stride in copied rows: rows that no window reads are left out.
  int64_t copiedStride;
  /// The number of runs of a row.
  int64_t copiedPixelStride;
  /// Elements of scratch: copied planes, offsets of the steps of k in them (i64), sums, a square for transposition.
  sym::Expr planes, offsets, sums, square;
  /// Elements (i64): where each of several pictures begins.
  sym::Expr begins;
  /// Elements (i64) of the list of steps of k whose taps touch the picture: what it is valid for, then a pair of offsets
  /// a step, in the copy and in the panel, and those that are read ahead. None where all taps are summed.
  sym::Expr listedSteps;
  /// The words before the list, and the steps that are read ahead, to prefetch their part of the panel.
  static constexpr int64_t listHeader = 8, listedAhead = 16;
  /// Of transformed filters. One channel at a time is copied, with runs for the places in a square.
  std::optional<TransformedTiles> transformed;

  static ConvolutionTiles get(ConvolutionForm &form, ConvolutionTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
  /// As getScratch, for any number of rows, where there is a loop over rows and no pooling.
  sym::Expr getMostScratch(ConvolutionForm &form) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H
