#ifndef FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H
#define FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// A convolution's weight gradient (dW): a contraction over all output positions. For every tap, input channel and
/// output channel, the sum over images and positions of the picture (the input) at the position shifted by the tap,
/// times the output gradient at the position.
struct WeightGradientForm {
  /// A dimension of the picture over which a tap moves: its coordinate is position * stride + tap * dilation +
  /// constant.
  struct Axis {
    unsigned dim, place, tap;
    int64_t stride, dilation;
  };

  ComputeOp compute;
  /// Inputs of the compute; `gradient` is the output gradient.
  unsigned picture, gradient;
  /// The accumulator's type; inputs may be narrower.
  mlir::Type elementType;
  /// Loops of output channels, input channels and images; the latter two only if there are several.
  unsigned column;
  std::optional<unsigned> channel, image;
  /// Batch loops, such as groups.
  llvm::SmallVector<unsigned> outer;
  /// The axis along rows of memory, and the axis over rows if taps move there as well.
  Axis pixel;
  std::optional<Axis> row;
  /// Of volumes, the axis over planes: the places along it count as images, its taps are batch loops.
  std::optional<Axis> depth;
  /// Whether it sums over so few positions that it is a convolution with these as taps as well.
  bool sumsWindow = false;

  /// Nothing if the compute is no weight gradient. Excluded are sums over so few positions that it is a convolution
  /// with these as taps, other than those of dense squares, and one-dimensional signals of unbounded length, whose
  /// scratch would have no bound.
  static std::optional<WeightGradientForm> get(ComputeOp compute);

  /// The extent of a loop; 1 without a loop.
  sym::Expr getExtent(std::optional<unsigned> loop);
  /// Planes of the output gradient.
  sym::Expr getSlices() { return getExtent(image) * getExtent(depth ? std::optional(depth->place) : std::nullopt); }
  /// Whether taps are dense squares of 3 x 3, whose sums may be transformed (see WinogradTransforms).
  bool hasDenseSquares();
  /// Whether there is a single tap, and neighbouring positions of a row, at most `most`, are neighbours in the picture.
  bool isPointwise(int64_t most);
  sym::Expr getPlaces() { return getExtent(pixel.place); }
  sym::Expr getRows() { return getExtent(row ? std::optional(row->place) : std::nullopt); }
  sym::Expr getRowTaps() { return getExtent(row ? std::optional(row->tap) : std::nullopt); }
  sym::Expr getPixelTaps() { return getExtent(pixel.tap); }
  /// The width of a row of the picture that the taps at all positions of a row touch.
  sym::Expr getPitch();
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H
