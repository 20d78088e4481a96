#ifndef FREESTONE_COMPILER_TILE_LOWERING_LOWERING_H
#define FREESTONE_COMPILER_TILE_LOWERING_LOWERING_H

#include "compiler/tile/ComputeBuilder.h"
#include "compiler/tile/Scalars.h"
#include "mlir/IR/PatternMatch.h"

namespace freestone::tile {

// Patterns from graph operators to computes, one file per family. A pattern that can't lower an operator gives the
// reason in its match failure.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
void populateMovementPatterns(mlir::RewritePatternSet &patterns);
void populateSubBytePatterns(mlir::RewritePatternSet &patterns);
void populateGatherPatterns(mlir::RewritePatternSet &patterns);
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
void populateContractionPatterns(mlir::RewritePatternSet &patterns);
/// Convolutions of dilated operands are split into residue classes, or else summed point by point.
void populateConvolutionPatterns(mlir::RewritePatternSet &patterns, bool residueClasses);
void populateWindowPatterns(mlir::RewritePatternSet &patterns);
void populateSourcePatterns(mlir::RewritePatternSet &patterns);
void populateScatterPatterns(mlir::RewritePatternSet &patterns);
void populateOrderingPatterns(mlir::RewritePatternSet &patterns);
void populateCumulatePatterns(mlir::RewritePatternSet &patterns);
void populateSelectionPatterns(mlir::RewritePatternSet &patterns);
void populateSuppressionPatterns(mlir::RewritePatternSet &patterns);
void populateRandomPatterns(mlir::RewritePatternSet &patterns);
void populateUniquePatterns(mlir::RewritePatternSet &patterns);

/// Replaces an operator by a compute that yields one scalar per point of the result.
inline mlir::LogicalResult replaceByCompute(mlir::PatternRewriter &rewriter, mlir::Operation *op,
                                            ComputeBuilder &builder,
                                            llvm::function_ref<mlir::Value(ComputeBody &)> body) {
  mlir::FailureOr<ComputeOp> compute = builder.create(graph::getElementType(op->getResult(0)), body);
  if (mlir::failed(compute))
    return rewriter.notifyMatchFailure(op, "an index is no affine function of the loops");
  rewriter.replaceOp(op, *compute);
  return mlir::success();
}

/// Identity and step of a reduction; sums and products of narrow floats use the accumulator type.
mlir::TypedAttr getIdentity(graph::ReduceKind kind, mlir::Type element);
mlir::Value emitCombine(mlir::ImplicitLocOpBuilder &builder, graph::ReduceKind kind, mlir::Value accumulator,
                        mlir::Value value, mlir::Type element);

/// Whether one element comes strictly before another; NaN is larger than every number.
mlir::Value emitPrecedes(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Value y, mlir::Type element,
                         bool descending);

/// A compute's result cast to another element type.
mlir::FailureOr<mlir::Value> castTo(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor,
                                    mlir::Type element);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_LOWERING_H
