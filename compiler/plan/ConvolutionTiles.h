#ifndef FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H

#include "compiler/plan/ConvolutionForm.h"

namespace freestone::tile {

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
/// of transformed filters) for some panels of output channels; tiles are outer loops times panel blocks times row
/// blocks times pixel blocks, row-major.
struct ConvolutionTiles {
  ConvolutionTilingAttr tiling;
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
  /// channels. A row is deinterleaved into as many runs as the pixels' stride (see `WindowTiles`).
  sym::Expr run, rowPitch, planeStride;
  /// The stride of channels in the picture, where it may be read in place; null elsewhere.
  sym::Expr pictureStride;
  /// The window's stride in copied rows: rows that no window reads are left out.
  int64_t copiedStride;
  /// The number of runs of a row.
  int64_t copiedPixelStride;
  /// Elements of scratch: copied planes, offsets of the steps of k in them (i64), sums, a square for transposition.
  sym::Expr planes, offsets, sums, square;
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
