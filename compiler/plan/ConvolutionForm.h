#ifndef FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H
#define FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H

#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/IndexMaps.h"

namespace freestone::tile {

/// The pooling (maximum or average) of adjacent, disjoint rectangles of a convolution's pixels, channel by channel.
/// Pixels after the last full rectangle are not read.
struct Pooling {
  ComputeOp compute;
  /// The input that reads the convolution's result.
  unsigned input;
  /// The size of a rectangle, and the loops over it; no loop for a size of one.
  int64_t rows = 1, pixels = 1;
  std::optional<unsigned> rowLoop, pixelLoop;
};

/// An axis of a window: the picture's dimension, and the taps along it.
struct TapAxis {
  /// None of a picture without this axis.
  std::optional<unsigned> dim;
  /// The number of taps, and their distance in the picture.
  int64_t taps = 1, step = 1;
  /// The distance of neighbours in the order of all taps.
  int64_t pitch = 0;
};

/// The axes of a window each of whose taps is one of each axis.
struct TapAxes {
  TapAxis depths, rows, pixels;
};

/// A contraction of a picture (the input) under a moving window with weights: for every pixel, output channels = sum
/// over input channels and taps. Pixels of a row are contiguous in memory. Vectors run along the output channels. Of
/// volumes, each depth is a picture, and the taps along the depth count as channels.
struct ConvolutionForm {
  /// `m` is the loop of output channels, `n` those of pixels, `k` input channels and taps; `outer` has that of depths.
  ContractionForm contraction;
  /// Inputs of the compute.
  unsigned picture, weights;
  /// The loop over rows of pixels, and the picture's dimension of rows; nothing if there is a single row.
  std::optional<unsigned> rowLoop, rowDim;
  unsigned pixelLoop, pixelDim;
  /// The dimension of the picture that counts channels in.
  unsigned channelDim;
  /// The picture's dimension of depths and the loop over them, the loop of taps along it if there are several, and
  /// their number.
  std::optional<unsigned> depthDim, depthLoop, depthTapLoop;
  int64_t depthTaps = 1;
  /// In rows and pixels.
  int64_t taps;
  /// Strides of the window: in rows, and in elements of a row.
  int64_t rowStride = 1, pixelStride = 1;
  /// The extent of a window in rows, and in elements of a row.
  int64_t rowSpan = 1, pixelSpan = 1;
  /// The pooling of pixels within the tile.
  std::optional<Pooling> pooling;

  /// Nothing if the compute is no convolution of this form: windows with large strides along a row, or of more than
  /// three dimensions, are excluded. The picture may be of a narrower floating-point type than the sums, so that its
  /// copy widens it; the weights too, as long as these are to be packed.
  static std::optional<ConvolutionForm> get(ComputeOp compute, bool mayWidenWeights = false);
  /// The convolution at the beginning of `computes`, if the next compute may be its pooling and all later ones its
  /// epilogue.
  static std::optional<ConvolutionForm> get(llvm::ArrayRef<ComputeOp> computes);
  static std::optional<ConvolutionForm> get(ProgramOp program);

  /// The pooling that `reader` applies to the convolution's result, or to a map of it; nothing if it is none or if
  /// there are other readers.
  std::optional<Pooling> getPooling(ComputeOp reader, mlir::Value result);
  /// Whether an operand of a compute over the result is equal for all channels or contiguous along them: cheap to read
  /// with vectors along the channels.
  bool readsByChannel(ComputeOp op, unsigned input);

  /// Sets the picture's dimension of depths; false if taps along it are not the outer ones, or are dilated.
  bool setDepth(unsigned dim, const LinearIndex &coordinate);
  /// Whether the picture is of a narrower type than the sums.
  bool widensPicture() { return contraction.compute.getInputArgs()[picture].getType() != contraction.elementType; }
  /// Whether the weights are packed in panels of `width` output channels, as the micro-kernel reads them.
  bool isPacked(int64_t width);
  /// Whether panels of `width` output channels hold the weights, or what these are transformed to.
  bool hasPanels(int64_t width);
  /// Whether all windows are dense squares of 3 x 3 taps, whose filters may be transformed (see WinogradTransforms).
  bool hasDenseSquares();
  /// The layout of weights that are transformed, in panels of any width; null for others.
  WinogradAttr getTransformed();
  /// Whether neighbouring pixels are neighbouring elements of the picture at every step of k: it can then be read in
  /// place, not copied.
  bool mayBeInPlace();
  /// The loops of the taps, and their strides in the coordinates of row and pixel.
  llvm::ArrayRef<unsigned> getTapLoops() const {
    return llvm::ArrayRef(contraction.k).drop_front(depthTapLoop ? 2 : 1);
  }
  /// Channels in, times the taps along the depth.
  sym::Expr getPlanes() { return contraction.getExtent(contraction.k.front()) * depthTaps; }
  std::pair<int64_t, int64_t> getTapSteps(unsigned loop);
  /// The outer loops over pictures whose weights and taps are the same: those of a batch, and those of depths without
  /// taps, which are all inside of the picture. None where filters are transformed.
  llvm::SmallVector<unsigned> getPictureLoops();
  /// Nothing where a loop over taps moves along no axis, or several ones.
  std::optional<TapAxes> getTapAxes();
  /// Whether taps may read zeros beyond the picture alone, in some rows or pixels: the sum does without them.
  bool maySkipTaps();
  /// The computed pixels of a row, and rows: those that pooling does not cut off.
  sym::Expr getPixels();
  sym::Expr getRows();
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H
