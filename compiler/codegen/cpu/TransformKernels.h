#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace freestone::codegen {

/// The functions shared by all convolutions with filters that are transformed for the same squares of pixels, or by all
/// gradients of weights with transformed sums (see tile::WinogradTransforms), for floats and vectors as in `shape`. A
/// square has points² values.
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
  /// void freestone_transform_pixels_…(i64 rows, i64 columns, i64 channels, i64 used, const T *picture, i64 pitch,
  ///                                   T *values, i64 stride)
  /// transforms rows of squares of points², whose distance is `outputs`, of the first `used` of `channels` that are
  /// innermost. Rows of the picture are `pitch` elements apart. Value v of square s and channel c is at
  /// values[v * stride + s * channels + c]. Both numbers of channels are multiples of a vector's.
  pixels,
  /// void freestone_transform_gradient_…(…)
  /// does the same with squares of outputs² positions of an output gradient.
  gradient,
  /// void freestone_transform_taps_…(i64 rows, T *sums, i64 stride)
  /// transforms sums of the products of both back: value v of row r and column c is sums[v * stride + r * width + c],
  /// and that of tap t is left in place of value t.
  taps,
};
/// The functions of convolutions, and those of gradients of weights.
inline constexpr TransformKind convolutionTransforms[] = {TransformKind::picture, TransformKind::products},
                               gradientTransforms[] = {TransformKind::pixels, TransformKind::gradient,
                                                       TransformKind::taps};

/// The function's declaration, added to the module once.
mlir::func::FuncOp declareTransform(mlir::ModuleOp module, TransformKind kind, mlir::Type elementType,
                                    tile::MicroKernelAttr shape, int64_t outputs);

/// Appends to `module` a nested module of this name with some of the functions.
void emitTransforms(mlir::ModuleOp module, llvm::StringRef name, llvm::ArrayRef<TransformKind> kinds,
                    mlir::Type elementType, tile::MicroKernelAttr shape, int64_t outputs);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TRANSFORMKERNELS_H
