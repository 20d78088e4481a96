#ifndef FREESTONE_COMPILER_PLAN_WINDOWFORM_H
#define FREESTONE_COMPILER_PLAN_WINDOWFORM_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// A reduction of one operand, the picture, under windows that move along the innermost parallel loop, which counts
/// pixels: pooling, and convolutions whose groups have few channels out. Other operands, such as weights, are the same
/// for all pixels. Vectors lie along the pixels.
struct WindowForm {
  ComputeOp compute;
  /// The input that is the picture.
  unsigned picture;
  /// What a copy of the picture holds: its elements, or the wider type that the body makes of each.
  mlir::Type elementType;
  /// Elements of the picture, whose last dimension it is, from one pixel to the next.
  unsigned pixelLoop;
  int64_t pixelStride = 1;
  /// The loop that counts rows of pixels, the dimension of the picture that it moves over, and its steps there; nothing
  /// where there is one row.
  std::optional<unsigned> rowLoop, rowDim;
  int64_t rowStride = 1;
  /// The other parallel loops: those that the picture depends on, and those that only other operands do, which count
  /// channels out.
  llvm::SmallVector<unsigned> outer, channels;

  /// Nothing where the compute is none: coordinates that are not linear, windows that move by more than `mostStride`
  /// elements, bodies that ask where they stand.
  static std::optional<WindowForm> get(ComputeOp compute);
  /// The one that the program computes first, if all that follows can be computed on its elements as they come.
  static std::optional<WindowForm> get(ProgramOp program);

  /// Whether neighbouring windows have elements in common.
  bool readsAgain();
  /// The operation that widens an element of the picture where it is used; null where it is used as it is.
  mlir::Operation *getWidening();

  sym::Expr getExtent(unsigned loop) { return compute.getExtents()[loop]; }
  llvm::SmallVector<sym::Expr> getExtents(llvm::ArrayRef<unsigned> loops);
  sym::Expr getNumChannels();
  sym::Expr getRows();
  sym::Expr getPixels() { return getExtent(pixelLoop); }
  /// The loops that reduce, and the steps of all of them together.
  llvm::SmallVector<unsigned> getTaps();
  sym::Expr getNumTaps();
  /// What a tap loop adds to a coordinate of the picture.
  int64_t getTapStep(unsigned dim, unsigned loop);
  /// Elements of a dimension that one window covers.
  sym::Expr getSpan(unsigned dim);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_WINDOWFORM_H
