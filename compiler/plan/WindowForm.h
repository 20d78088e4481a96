#ifndef FREESTONE_COMPILER_PLAN_WINDOWFORM_H
#define FREESTONE_COMPILER_PLAN_WINDOWFORM_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// A reduction of one operand, the picture, under windows along the innermost parallel loop, the pixels: pooling, and
/// convolutions whose groups have few output channels. Other operands, such as weights, are equal for all pixels.
/// Vectorized over the pixels.
struct WindowForm {
  ComputeOp compute;
  /// The number of the picture's input.
  unsigned picture;
  /// Element type of the picture's copy: its own, or the wider one that the body converts to.
  mlir::Type elementType;
  /// The loop of the pixels, over the picture's last dimension, and its step in elements.
  unsigned pixelLoop;
  int64_t pixelStride = 1;
  /// The loop of the rows of pixels, its dimension of the picture, and its step there; nothing for a single row.
  std::optional<unsigned> rowLoop, rowDim;
  int64_t rowStride = 1;
  /// The other parallel loops: the picture's, and those of other operands only, the output channels.
  llvm::SmallVector<unsigned> outer, channels;

  /// Nothing if the compute has no such form: coordinates that are not linear, steps above `mostStride` elements,
  /// bodies that read their position.
  static std::optional<WindowForm> get(ComputeOp compute);
  /// The program's first compute, if all others are epilogues of its elements.
  static std::optional<WindowForm> get(ProgramOp program);

  /// Whether the picture can be read where it lies: it is what a stage before holds in scratch, as it is stored, of
  /// which windows see rows and pixels with known steps alone, and zeros beyond it.
  bool isReadableInPlace();
  /// Whether neighbouring windows overlap.
  bool readsAgain();
  /// The operation that widens the picture's elements; null if there is none.
  mlir::Operation *getWidening();

  sym::Expr getExtent(unsigned loop) { return compute.getExtents()[loop]; }
  llvm::SmallVector<sym::Expr> getExtents(llvm::ArrayRef<unsigned> loops);
  sym::Expr getNumChannels();
  sym::Expr getRows();
  sym::Expr getPixels() { return getExtent(pixelLoop); }
  /// The reduction loops, and the product of their extents.
  llvm::SmallVector<unsigned> getTaps();
  sym::Expr getNumTaps();
  /// A tap loop's step along a dimension of the picture.
  int64_t getTapStep(unsigned dim, unsigned loop);
  /// A window's size along a dimension.
  sym::Expr getSpan(unsigned dim);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WINDOWFORM_H
