#ifndef FREESTONE_COMPILER_TILE_NEIGHBOURLOOPS_H
#define FREESTONE_COMPILER_TILE_NEIGHBOURLOOPS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// How two neighbouring loops index an operand.
enum class NeighbourAccess { none, twoDimensions, oneDimension, repeated, apart };

/// `first` is the coordinate of the outer loop if the loops are two dimensions: whole runs of the inner one, from any
/// position of the outer one on. A fill is then read for whole runs. Elements are repeated along an inner loop of a few
/// steps, the last one: vectors of the merged loop repeat what they load.
NeighbourAccess getNeighbourAccess(ComputeOp op, unsigned input, unsigned outer, unsigned &first);

/// Whether loops `outer` and `outer + 1` run over memory without a gap in every operand of every compute that has them,
/// and are the same axes in all of these. Operands of a compute alone may be repeated.
bool canMerge(llvm::ArrayRef<ComputeOp> computes, unsigned outer);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_NEIGHBOURLOOPS_H
