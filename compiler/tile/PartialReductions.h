#ifndef FREESTONE_COMPILER_TILE_PARTIALREDUCTIONS_H
#define FREESTONE_COMPILER_TILE_PARTIALREDUCTIONS_H

#include "compiler/tile/ComputeBuilder.h"
#include "compiler/tile/ReductionParts.h"

namespace freestone::tile {

/// Builds the computes of a split reduction. All clone the body of `op`, and leave `op` in place.
class PartialReductions {
public:
  PartialReductions(ComputeOp op, const ReductionParts &parts) : op(op), parts(parts) {}

  /// The partial reductions: the loops of `op` inside a loop over the parts. Without a remainder, operands are reshaped
  /// at `builder`.
  mlir::FailureOr<ComputeOp> makePartials(mlir::OpBuilder &builder);
  /// The reduction of the remainder, with the loops of `op`; null if there is none.
  mlir::FailureOr<ComputeOp> makeRest(mlir::OpBuilder &builder);
  /// The reduction of the partial results, in the order of the parts.
  mlir::FailureOr<ComputeOp> makeTotal(mlir::OpBuilder &builder, ComputeOp partials);
  /// The remainder combined with the total.
  mlir::FailureOr<ComputeOp> makeSum(mlir::OpBuilder &builder, ComputeOp rest, ComputeOp total);

private:
  bool hasRest() const { return !parts.rest.isConstant(0); }
  mlir::FailureOr<ComputeOp> makeReduction(mlir::OpBuilder &builder, ComputeBuilder &computes,
                                           llvm::ArrayRef<sym::Expr> loops, llvm::ArrayRef<mlir::TypedAttr> inits);
  unsigned readPart(ComputeBuilder &computes, mlir::OpBuilder &builder, unsigned input,
                    llvm::ArrayRef<sym::Expr> loops);

  ComputeOp op;
  ReductionParts parts;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_PARTIALREDUCTIONS_H
