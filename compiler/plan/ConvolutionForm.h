#ifndef FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H
#define FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// A reduction of rectangles of a convolution's pixels, channel by channel, that lie next to each other: max or average
/// pooling. Pixels behind the last whole rectangle are not read.
struct Pooling {
  ComputeOp compute;
  /// The input that is the convolution's result.
  unsigned input;
  /// Pixels that a rectangle has and the loops that count them; no loop where it has one.
  int64_t rows = 1, pixels = 1;
  std::optional<unsigned> rowLoop, pixelLoop;
};

/// A contraction whose one operand is a picture under a moving window, and whose other one is weights: for every pixel,
/// channels out = sum over channels in and taps. Pixels move along a row of memory. Vectors lie along the channels out.
struct ConvolutionForm {
  /// `m` is the loop of the channels out, `n` those of the pixels, `k` channels in and taps.
  ContractionForm contraction;
  /// Inputs of the compute.
  unsigned picture, weights;
  /// The loop and the dimension of the picture that count rows; nothing where there is one row.
  std::optional<unsigned> rowLoop, rowDim;
  unsigned pixelLoop, pixelDim;
  /// The dimension of the picture that counts channels in.
  unsigned channelDim;
  int64_t taps;
  /// Rows of the picture from one row of pixels to the next, and elements of a row from one pixel to the next.
  int64_t rowStride = 1, pixelStride = 1;
  /// Rows, and elements of a row, that one window covers.
  int64_t rowSpan = 1, pixelSpan = 1;
  /// What the pixels are reduced to before they leave the tile.
  std::optional<Pooling> pooling;

  /// Nothing where the compute is none: windows that move by more than a few elements, or are more than
  /// two-dimensional, are not.
  static std::optional<ConvolutionForm> get(ComputeOp compute);
  /// The convolution that the first of computes is, if the next one may be its pooling, and all that follow can be
  /// computed on elements as they come.
  static std::optional<ConvolutionForm> get(llvm::ArrayRef<ComputeOp> computes);
  static std::optional<ConvolutionForm> get(ProgramOp program);

  /// What `reader` does with the convolution's result, or with what is made of it pixel by pixel, if it pools it and
  /// nothing else reads it.
  std::optional<Pooling> getPooling(ComputeOp reader, mlir::Value result);
  /// Whether an operand, read over the loops of the result, is the same for all channels or neighbours in memory for
  /// neighbouring ones: cheap where vectors lie along the channels.
  bool readsByChannel(ComputeOp op, unsigned input);

  /// Whether the weights are stored as the micro-kernel reads them, panels of `width` channels out.
  bool isPacked(int64_t width);
  /// The loops of the taps, and what each of them adds to the coordinates of row and pixel.
  llvm::ArrayRef<unsigned> getTapLoops() const { return llvm::ArrayRef(contraction.k).drop_front(); }
  std::pair<int64_t, int64_t> getTapSteps(unsigned loop);
  /// The pixels in a row, and the rows, that are computed.
  sym::Expr getPixels();
  sym::Expr getRows();
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONVOLUTIONFORM_H
