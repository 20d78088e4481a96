#ifndef FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
#define FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Where the values of which a maximum is taken are masked by their positions (causal masks, windows): replaced by, or
/// added to, a number so low that exp(x - M) is 0 for the maximum M. Values are masked wherever one of the expressions,
/// which are linear in the compute's loops, is positive. Empty unless every maximum has a value that is not masked so,
/// or is -inf.
llvm::SmallVector<sym::Expr> getMaskedRegions(ComputeOp maximum);

/// Where exp(x - M), or a product of it, is 0 since x is masked by -inf, in the same form. M, one number for all
/// columns of a row, is taken to be at least every x that is not masked; empty unless each row has such a one.
llvm::SmallVector<sym::Expr> getVanishingRegions(ComputeOp map);

/// Whether a result, or all that is added up to it, is 0 where elements of `tensors` are. Other elements are numbers.
bool vanishes(ComputeOp compute, unsigned result, const llvm::SmallPtrSetImpl<mlir::Value> &tensors);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
