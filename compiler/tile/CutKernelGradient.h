#ifndef FREESTONE_COMPILER_TILE_CUTKERNELGRADIENT_H
#define FREESTONE_COMPILER_TILE_CUTKERNELGRADIENT_H

#include "compiler/tile/CutContraction.h"

namespace freestone::tile {

/// A contraction over all places of a picture, as it is the gradient of a convolution's kernel: for every tap, channel
/// of the picture and channel of the gradient, the sum over images and places of the picture at the place moved by the
/// tap, times the gradient at the place.
struct KernelGradientForm {
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
  static std::optional<KernelGradientForm> get(ComputeOp compute);

  /// The extent of a loop; 1 where there is none.
  sym::Expr getExtent(std::optional<unsigned> loop);
  sym::Expr getPlaces() { return getExtent(pixel.place); }
  sym::Expr getRows() { return getExtent(row ? std::optional(row->place) : std::nullopt); }
  sym::Expr getRowTaps() { return getExtent(row ? std::optional(row->tap) : std::nullopt); }
  sym::Expr getPixelTaps() { return getExtent(pixel.tap); }
};

/// How it is cut: a tile has one panel of the gradient's channels, for all taps and channels of the picture, and adds
/// up images and blocks of rows one after the other. Channels of the picture are neighbours in what is copied of it, so
/// that those of all taps of a row are the rows of one micro-kernel.
struct KernelGradientTiling {
  /// Of places.
  sym::Expr rowBlocks, rowStep;
  sym::Expr tiles;
  /// Pixels in a row of what is copied, and its rows.
  sym::Expr pitch, planeRows;
  /// Rows of sums for the taps of a row, an even number.
  sym::Expr sumRows;
  /// Elements of scratch: the picture, where its places are, a panel of the gradient, sums.
  sym::Expr planes, offsets, panel, sums;

  static KernelGradientTiling get(KernelGradientForm &form, const DeviceDescription &device);
};

/// The plan of a program that is the gradient of a kernel with its epilogue.
mlir::DictionaryAttr cutKernelGradient(ProgramOp program, KernelGradientForm &form, const DeviceDescription &device);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_CUTKERNELGRADIENT_H
