#ifndef FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// A box of the input and the layout of its copy. Elements outside of the input are `fill`, or zero.
/// A row of the copy is deinterleaved into `stride` runs of `vectors` vectors: run r has the row's elements r, r +
/// stride, r + 2 * stride, …
struct PictureBox {
  /// The input's memory, flat, and its tensor.
  mlir::Value memory;
  graph::TensorType type;
  mlir::TypedAttr fill;
  /// Coordinates of the first element of the box; may be outside of the input.
  llvm::SmallVector<mlir::Value> first;
  /// For every dimension but the last: the box's size, and its stride in the copy.
  llvm::SmallVector<mlir::Value> counts, strides;
  int64_t stride = 1;
  /// The dimension of which only every `rowStep`-th coordinate is copied, counted without the others.
  std::optional<unsigned> rowDim;
  int64_t rowStep = 1;
  mlir::Value vectors;
  /// The vectors of each run that are copied; null: all.
  mlir::Value firstVector, endVector;
  /// Whether rows beyond the input are left as they are.
  bool skipsBorder = false;
  /// What is prefetched while rows are copied; null: nothing.
  struct Ahead {
    /// Of rows before coordinate `last` of dimension `dim` of the box, the row so many elements behind; of the others,
    /// which have no such row, the one that follows theirs in the next box.
    unsigned dim;
    mlir::Value last, within, beyond;
  };
  std::optional<Ahead> ahead;
  /// Elements of a vector, and its conversion before the store; null: none.
  int64_t lanes;
  llvm::function_ref<mlir::Value(mlir::Value)> convert;
};

/// Copies the box to the beginning of `target`, aligned to its vectors.
void copyPicture(Emission &emission, const PictureBox &box, mlir::Value target);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H
