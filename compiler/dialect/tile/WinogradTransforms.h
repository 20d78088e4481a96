#ifndef FREESTONE_COMPILER_DIALECT_TILE_WINOGRADTRANSFORMS_H
#define FREESTONE_COMPILER_DIALECT_TILE_WINOGRADTRANSFORMS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace freestone::tile {

/// The transforms of minimal filtering along one dimension, F(outputs, 3): with a filter of 3 taps and as many pixels
/// as there are points, outputs = result * ((filter * taps) ∘ (picture * pixels)). Of two dimensions, each is applied
/// along one and the other. Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016; the matrices are
/// made of points, after Cook and Toom: 0, 1, -1 and infinity, or 0, 5/8, -5/8, 3/2, -3/2 and infinity, whose errors in
/// f32 are 0.8 and 2.1 times those of direct sums (root mean square; 4.5 times with 1 and 2 instead of 5/8 and 3/2).
struct WinogradTransforms {
  using Matrix = llvm::SmallVector<llvm::SmallVector<double>>;
  static constexpr int64_t taps = 3;

  /// [points][points], [points][taps], [outputs][points].
  Matrix picture, filter, result;
  /// [taps][points]: the filter of its transform.
  Matrix taken;

  static int64_t getNumPoints(int64_t outputs) { return outputs + taps - 1; }
  static bool isSupported(int64_t outputs) { return outputs == 2 || outputs == 4; }
  /// Of supported outputs.
  static WinogradTransforms get(int64_t outputs);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_DIALECT_TILE_WINOGRADTRANSFORMS_H
