#ifndef FREESTONE_COMPILER_GRAD_LOSSES_H
#define FREESTONE_COMPILER_GRAD_LOSSES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace freestone::grad {

/// A loss as two floats of rank 0: f32, or f64 if the predictions are. The mean is `sum / count`; over accumulated
/// batches, the sum of their sums over the sum of their counts.
struct Loss {
  mlir::Value sum;
  /// The number of counted elements; with class weights, the sum of the weights of their classes. It has no gradient.
  mlir::Value count;
};

/// Options of losses over classes. Defaults are PyTorch's.
struct ClassLossOptions {
  /// The dimension of the predictions that runs over the classes; negative ones count from the end.
  int64_t classAxis = 1;
  /// Elements with this label are not counted and have no gradient.
  int64_t ignoreIndex = -100;
  /// In [0, 1]: the fraction of the target that is spread evenly over all classes.
  double labelSmoothing = 0;
  /// A float [classes], or null.
  mlir::Value classWeights;
};

// Builders of losses at the insertion point. Predictions are floats; f16 and bf16 are computed in f32. Shapes must be
// equal expressions as stated, or the result does not verify. Semantics are those of PyTorch's functions of the same
// names.

/// Cross entropy of logits [… C …] with `labels`: integers of any type, in the shape of the logits without the class
/// axis. A label that is neither a class nor `ignoreIndex` makes the sum NaN.
Loss buildSoftmaxCrossEntropy(mlir::OpBuilder &builder, mlir::Location location, mlir::Value logits, mlir::Value labels,
                              const ClassLossOptions &options = {});

/// As buildSoftmaxCrossEntropy, for log-probabilities instead of logits.
Loss buildNegativeLogLikelihood(mlir::OpBuilder &builder, mlir::Location location, mlir::Value logProbabilities,
                                mlir::Value labels, const ClassLossOptions &options = {});

/// Cross entropy of sigmoids of logits with targets in [0, 1]: floats, integers or bools in the shape of the logits.
/// `positiveWeight` (may be null) is a float that scales the term of positive targets: of rank 0, or of the shape of
/// the logits' last dimension.
Loss buildSigmoidCrossEntropy(mlir::OpBuilder &builder, mlir::Location location, mlir::Value logits,
                              mlir::Value targets, mlir::Value positiveWeight = {});

/// Squares of differences. Targets, here and below, have the shape of the predictions and any element type but bool.
Loss buildMeanSquaredError(mlir::OpBuilder &builder, mlir::Location location, mlir::Value predictions,
                           mlir::Value targets);

/// Absolute differences.
Loss buildL1(mlir::OpBuilder &builder, mlir::Location location, mlir::Value predictions, mlir::Value targets);

/// d²/2 for differences of at most `delta` > 0, else delta*(|d| - delta/2).
Loss buildHuber(mlir::OpBuilder &builder, mlir::Location location, mlir::Value predictions, mlir::Value targets,
                double delta = 1);

/// 1 - cos of the angle between predictions and targets along `axis` (negative: from the end): PyTorch's
/// `CosineEmbeddingLoss` of pairs that are alike, which adds 1e-12 to the squares of norms.
Loss buildCosine(mlir::OpBuilder &builder, mlir::Location location, mlir::Value predictions, mlir::Value targets,
                 int64_t axis = 1);

/// sum / count.
mlir::Value buildMean(mlir::OpBuilder &builder, mlir::Location location, const Loss &loss);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_LOSSES_H
