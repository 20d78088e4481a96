#ifndef FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H
#define FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H

#include "compiler/dialect/sym/Expr.h"
#include <cstdint>
#include <optional>

namespace freestone::tile {

/// One spatial dimension of `graph.convolve`: position p and tap t read the dilated operand at p * stride + t *
/// dilation - low, and so an element if that is a multiple of `operandDilation`.
struct ConvolvedDim {
  int64_t stride, dilation, operandDilation;
  sym::Expr low, high, extent, taps, places;
};

/// One dimension of windows over the operand as it is in memory: position p and tap t read it at p * stride + t *
/// dilation - low, and the kernel at firstTap + t * tapStep.
struct DenseWindow {
  int64_t stride, dilation;
  sym::Expr low, taps, places;
  int64_t firstTap = 0, tapStep = 1;
  /// Neighbouring classes of positions whose windows differ only in the kernel's taps: those of class c are shifted by
  /// `c * classStep`, which may be negative.
  int64_t classes = 1, classStep = 0;
  /// Whether every tap at every position is in bounds.
  bool isInside = false;
};

/// Positions p with p mod `period` in [first, first + classes of the window).
struct ResidueClass {
  int64_t first;
  /// Over the positions p floordiv period; nothing if no tap reads an element, and the sum is zero.
  std::optional<DenseWindow> window;
  int64_t size() const { return window ? window->classes : 1; }
};

/// A dimension of a convolution, split by the residues of its positions into dense dimensions: a single class if the
/// operand is not dilated.
struct ResidueClasses {
  int64_t period = 1;
  llvm::SmallVector<ResidueClass> classes;

  /// Nothing if the residues depend on sizes: `low` or the number of taps is no constant.
  static std::optional<ResidueClasses> get(const ConvolvedDim &dim);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H
