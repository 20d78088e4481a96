#ifndef FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H

#include "compiler/plan/ConvolutionForm.h"

namespace freestone::tile {

/// The geometry that follows from a convolution's tiling. A tile is a rectangle of pixels, of whole rectangles where they
/// are pooled, for some panels of channels out; tiles are outer loops times blocks of panels times blocks of rows times
/// blocks of pixels, row-major.
struct ConvolutionTiles {
  ConvolutionTilingAttr tiling;
  /// Of channels out: a multiple of the panel width.
  sym::Expr columnBlocks, columnStep;
  sym::Expr rowBlocks, rowStep;
  sym::Expr pixelBlocks, pixelStep;
  /// Of channels in, computed one after the other; at least one, so that an empty sum is written too.
  sym::Expr channelBlocks, channelStep;
  sym::Expr tiles;

  /// A channel of the picture as a tile copies it, with its border: elements of a run, of which a row has as many as
  /// the pixels' stride (see `WindowTiles`), from one row to the next, and from one channel to the next.
  sym::Expr run, rowPitch, planeStride;
  /// Pixels from one row to the next in the sums, each a panel's width.
  sym::Expr sumsPitch;
  /// Elements of scratch: planes, offsets of the steps of k in them (i64), sums, a square that is transposed.
  sym::Expr planes, offsets, sums, square;

  static ConvolutionTiles get(ConvolutionForm &form, ConvolutionTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONVOLUTIONTILES_H
