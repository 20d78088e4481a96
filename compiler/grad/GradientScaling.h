#ifndef FREESTONE_COMPILER_GRAD_GRADIENTSCALING_H
#define FREESTONE_COMPILER_GRAD_GRADIENTSCALING_H

#include "compiler/grad/Number.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

namespace freestone::grad {

/// Whether any element of the gradients is infinite or NaN: a bool of rank 0.
mlir::Value buildAnyNonFinite(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> gradients);

/// The sum of a gradient's squares: f32 of rank 0 (f64 if the gradient is).
mlir::Value buildSumOfSquares(mlir::OpBuilder &builder, mlir::Location location, mlir::Value gradient);

/// The Euclidean norm of all gradients together, from the sum of squares of each: f32 of rank 0 (f64 if one of them
/// is).
mlir::Value buildNorm(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> squares);

/// The Euclidean norm of all gradients together: f32 of rank 0 (f64 if a gradient is). Scaled gradients give a scaled
/// norm. `squares`, if given, receives the sum of squares of each gradient; with `keepApart`, no later pass computes these
/// sums together.
mlir::Value buildGlobalNorm(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> gradients,
                            llvm::SmallVectorImpl<mlir::Value> *squares = nullptr, bool keepApart = false);

/// PyTorch's `clip_grad_norm_`: the factor min(1, maxNorm / (norm + 1e-6)), of the type of `norm`. Both are floats of
/// rank 0.
mlir::Value buildClipFactor(mlir::OpBuilder &builder, mlir::Location location, mlir::Value norm, mlir::Value maxNorm);

/// The gradient times a float of rank 0 (a clip factor, the reciprocal of a loss scale), in f32, or f64 where the
/// gradient is.
mlir::Value buildScaled(mlir::OpBuilder &builder, mlir::Location location, mlir::Value gradient, mlir::Value factor);

/// The state of dynamic loss scaling, both of rank 0.
struct LossScale {
  /// f32.
  mlir::Value scale;
  /// i32: steps without overflow since the scale last changed.
  mlir::Value growthTracker;
};

/// The schedule of PyTorch's `GradScaler`, with its defaults.
struct LossScaleOptions {
  double initialScale = 65536;
  Number growthFactor = 2.0, backoffFactor = 0.5, growthInterval = 2000.0;
};

/// The state after a step; `overflowed` (bool of rank 0) says whether a gradient was not finite.
LossScale buildLossScaleUpdate(mlir::OpBuilder &builder, mlir::Location location, const LossScale &before,
                               mlir::Value overflowed, const LossScaleOptions &options = {});

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_GRADIENTSCALING_H
