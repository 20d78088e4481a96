#ifndef FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
#define FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Where the values of which a maximum is taken are masked by their positions (causal masks, windows): replaced by, or
/// added to, a number so low that exp(x - M) is 0 for the maximum M. Values are masked wherever one of the expressions,
/// which are linear in the compute's loops, is positive. Empty unless every maximum has a value that is not masked so,
/// or is -inf.
llvm::SmallVector<sym::Expr> getMaskedRegions(ComputeOp maximum);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
