#ifndef FREESTONE_COMPILER_TILE_PARTIALREDUCTIONS_H
#define FREESTONE_COMPILER_TILE_PARTIALREDUCTIONS_H

#include "compiler/tile/ComputeBuilder.h"
#include "compiler/tile/ReductionParts.h"

namespace freestone::tile {

/// Makes the computes that a reduction in parts consists of. All copy what `op` computes, and leave it in place.
class PartialReductions {
public:
  PartialReductions(ComputeOp op, const ReductionParts &parts) : op(op), parts(parts) {}

  /// The reduction of every part: its loops are those of `op` behind one over the parts. Operands are reshaped at
  /// `builder` where the parts have no rest.
  mlir::FailureOr<ComputeOp> makePartials(mlir::OpBuilder &builder);
  /// What the parts leave over, reduced with the loops of `op`; null where they leave nothing.
  mlir::FailureOr<ComputeOp> makeRest(mlir::OpBuilder &builder);
  /// The partial results combined in the order of the parts.
  mlir::FailureOr<ComputeOp> makeTotal(mlir::OpBuilder &builder, ComputeOp partials);
  /// The rest combined with the total.
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
