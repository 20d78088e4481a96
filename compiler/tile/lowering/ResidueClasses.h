#ifndef FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H
#define FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H

#include "compiler/dialect/sym/Expr.h"
#include <cstdint>
#include <optional>

namespace freestone::tile {

/// One spatial dimension of `graph.convolve`: place p and tap t meet the dilated operand at p * stride + t * dilation -
/// low, and the operand itself where that is a multiple of `operandDilation`.
struct ConvolvedDim {
  int64_t stride, dilation, operandDilation;
  sym::Expr low, high, extent, taps, places;
};

/// One dimension of windows over the operand as it is in memory: place p and tap t meet it at p * stride + t * dilation
/// - low, and the kernel at firstTap + t * tapStep.
struct DenseWindow {
  int64_t stride, dilation;
  sym::Expr low, taps, places;
  int64_t firstTap = 0, tapStep = 1;
  /// Neighbouring classes of places whose windows differ in the kernel's taps alone: class c begins `c * classStep` taps
  /// later, or earlier.
  int64_t classes = 1, classStep = 0;
  /// Whether every tap of every place is inside of the operand.
  bool isInside = false;
};

/// Places p with p mod `period` in [first, first + classes of the window) of a dimension.
struct ResidueClass {
  int64_t first;
  /// Over the places p floordiv period; nothing where no tap meets an element, and the sum is zero.
  std::optional<DenseWindow> window;
  int64_t size() const { return window ? window->classes : 1; }
};

/// A dimension of a convolution, divided by the residues of its places into dense ones: one class where the operand is
/// not dilated.
struct ResidueClasses {
  int64_t period = 1;
  llvm::SmallVector<ResidueClass> classes;

  /// Nothing where the residues depend on sizes: `low` or the number of taps is no constant.
  static std::optional<ResidueClasses> get(const ConvolvedDim &dim);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_RESIDUECLASSES_H
