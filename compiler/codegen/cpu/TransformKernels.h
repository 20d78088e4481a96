#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// The functions shared by all convolutions with filters that are transformed for the same squares of pixels (see
/// tile::WinogradTransforms), for floats and vectors as in `shape`. A square has points² values.
enum class TransformKind {
  /// void freestone_transform_picture_…(i64 rows, i64 columns, const T *picture, i64 pitch, i64 run, T *values,
  ///                                    i64 stride)
  /// transforms rows of squares of one channel. Rows of the picture are `pitch` elements apart, each with `outputs`
  /// runs of `run` elements: run r has pixels r, r + outputs, … Value v of square s is at values[v * stride + s]; up to
  /// a vector after a row's squares is overwritten, and read after a run.
  picture,
  /// void freestone_transform_products_…(i64 rows, i64 columns, const T *products, i64 stride, T *sums, i64 pitch)
  /// transforms panels of products back: value v of square s and channel c is products[v * stride + s * width + c].
  /// Sums of pixels are a panel's width apart, their rows `pitch` elements.
  products,
};

/// The function's declaration, added to the module once.
mlir::func::FuncOp declareTransform(mlir::ModuleOp module, TransformKind kind, mlir::Type elementType,
                                    tile::MicroKernelAttr shape, int64_t outputs);

/// Appends to `module` a nested module with both functions.
void emitTransforms(mlir::ModuleOp module, mlir::Type elementType, tile::MicroKernelAttr shape, int64_t outputs);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H
