#ifndef FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H
#define FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// A contraction over all places of a picture, as it is the gradient of a convolution's weights: for every tap, channel
/// of the picture and channel of the gradient, the sum over images and places of the picture at the place moved by the
/// tap, times the gradient at the place.
struct WeightGradientForm {
  /// A dimension of the picture over which a tap moves: its coordinate is place * stride + tap * dilation and what is
  /// constant.
  struct Axis {
    unsigned dim, place, tap;
    int64_t stride, dilation;
  };

  ComputeOp compute;
  /// Inputs of the compute.
  unsigned picture, gradient;
  /// What is accumulated in; inputs may be narrower.
  mlir::Type elementType;
  /// Loops of channels of the gradient, of those of the picture, and of images; the latter two where there are several.
  unsigned column;
  std::optional<unsigned> channel, image;
  /// Loops that repeat the whole, such as groups.
  llvm::SmallVector<unsigned> outer;
  /// Along the rows of memory, and over rows if taps move there too.
  Axis pixel;
  std::optional<Axis> row;

  /// Nothing where the compute is none, or sums over so few places that it is a convolution with these as taps, or over
  /// signals that may be long: scratch would have no bound.
  static std::optional<WeightGradientForm> get(ComputeOp compute);

  /// The extent of a loop; 1 where there is none.
  sym::Expr getExtent(std::optional<unsigned> loop);
  sym::Expr getPlaces() { return getExtent(pixel.place); }
  sym::Expr getRows() { return getExtent(row ? std::optional(row->place) : std::nullopt); }
  sym::Expr getRowTaps() { return getExtent(row ? std::optional(row->tap) : std::nullopt); }
  sym::Expr getPixelTaps() { return getExtent(pixel.tap); }
  /// Pixels of a row of the picture that the taps at all places of a row meet.
  sym::Expr getPitch();
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WEIGHTGRADIENTFORM_H
