#ifndef FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H

#include "compiler/codegen/cpu/Emission.h"

namespace freestone::codegen {

/// A box of a picture, and where its copy goes. Outside of the picture is its fill, or zero.
///
/// A row of the copy is `stride` runs of `vectors` vectors: run r has the elements r, r + stride, r + 2 * stride, … of
/// the row.
struct PictureBox {
  /// Flat memory, and the tensor that it holds.
  mlir::Value memory;
  graph::TensorType type;
  mlir::TypedAttr fill;
  /// Coordinates of the first element of the box, which may be outside of the picture.
  llvm::SmallVector<mlir::Value> first;
  /// For every dimension but the last: elements of the box, and how far apart they are in the copy.
  llvm::SmallVector<mlir::Value> counts, strides;
  int64_t stride = 1;
  mlir::Value vectors;
  /// Elements of a vector, and what it becomes before it is stored; null: as it is.
  int64_t lanes;
  llvm::function_ref<mlir::Value(mlir::Value)> convert;
};

/// Copies the box to the beginning of `target`, aligned to its vectors.
void copyPicture(Emission &emission, const PictureBox &box, mlir::Value target);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_COPYPICTURE_H
