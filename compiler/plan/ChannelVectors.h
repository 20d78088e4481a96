#ifndef FREESTONE_COMPILER_PLAN_CHANNELVECTORS_H
#define FREESTONE_COMPILER_PLAN_CHANNELVECTORS_H

#include "compiler/plan/WindowForm.h"

namespace freestone::tile {

/// Windows of a narrow picture, whose rows fill no vector of pixels, with vectors along channels. The picture's part is
/// copied into a box with its border, where each tap of each window is an offset; results are transposed back.
///
/// A lane has a channel of the picture where each has windows of its own: the box is [rows][pixels][lanes], the picture
/// is transposed, and as many tiles are computed at a time as are neighbouring channels. Where a group's channels out
/// share what windows see, a lane has one of these, and the box is [planes][rows][pixels].
struct ChannelVectors {
  /// The loop of the channels that lanes have: the innermost outer one that has weights of its own, or that of channels
  /// out.
  unsigned loop;
  bool sharesPicture = false;
  /// The outer loops as tiles go along them, with that of the lanes innermost.
  llvm::SmallVector<unsigned> order;
  /// The input beside the picture: an element for each channel and tap; taps follow each other, or, mirrored, precede
  /// each other, as those of gradients do.
  std::optional<unsigned> weights;
  bool mirrored = false;
  int64_t taps;
  /// The loop over taps that counts planes, and their number and distance in the picture.
  std::optional<unsigned> planeLoop;
  int64_t planes = 1;
  sym::Expr planeStride;
  /// Coordinates in the picture of the box's first row and pixel; the rows and pixels of the picture and of the box.
  sym::Expr firstRow, firstPixel, pictureRows, picturePixels, boxRows, boxPixels;
  /// Where the picture is read beside rows and pixels: ends that a run's sizes must not exceed.
  llvm::SmallVector<std::pair<sym::Expr, sym::Expr>> ends;
  /// Results of a channel.
  sym::Expr results;

  /// Nothing where channels have more or less in common: taps along depths, elements that are widened, other operands
  /// than weights.
  static std::optional<ChannelVectors> get(WindowForm &form);

  /// The positions of the box, and those of the picture that are read: with at most `most` of both it is computed so.
  sym::Expr getPositions() const { return sym::Expr::max(boxRows * boxPixels, boxRows * picturePixels); }
  /// Elements of the box at a position of a plane.
  int64_t getUnit(int64_t lanes) const { return sharesPicture ? 1 : lanes; }
  /// Elements of scratch for boxes of `most` positions at most, and one behind it for what no window sees.
  int64_t getBoxElements(int64_t most, int64_t lanes) const { return most * planes * getUnit(lanes) + lanes; }
  /// Places of the picture's positions in the box, and of each result's first tap: whole vectors of them.
  static int64_t getNumPlaces(int64_t most, int64_t lanes) { return most + lanes; }
  int64_t getPaddedTaps(int64_t lanes) const { return int64_t(llvm::alignTo(taps, lanes)); }
  /// Blocks of lanes.
  sym::Expr getBlocks(WindowForm &form, int64_t lanes) const;
  /// The outer loops beside the channels' whose every step has weights of its own.
  llvm::SmallVector<unsigned> getWeightLoops(WindowForm &form) const;
  /// Blocks of lanes with weights of their own, and the elements of these.
  sym::Expr getWeightBlocks(WindowForm &form, int64_t lanes) const;
  sym::Expr getWeightElements(WindowForm &form, int64_t lanes) const;
  /// Sizes, each with the most that it may be in a run with vectors along channels: one tile has a whole picture.
  llvm::SmallVector<std::pair<sym::Expr, sym::Expr>> getLimits(WindowForm &form, WindowTilingAttr tiling) const;
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(WindowForm &form, int64_t most, int64_t lanes) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CHANNELVECTORS_H
