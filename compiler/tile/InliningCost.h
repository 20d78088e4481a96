#ifndef FREESTONE_COMPILER_TILE_INLININGCOST_H
#define FREESTONE_COMPILER_TILE_INLININGCOST_H

#include "compiler/tile/Cost.h"
#include "compiler/tile/RewriteLoops.h"

namespace freestone::tile {

/// Whether a compute is a contraction, which takes its operands from memory.
bool isSumOfProducts(ComputeOp op);

/// Whether the compute takes elements of 2 or 4 bits out of their bytes.
bool unpacksBytes(ComputeOp op);

/// What it costs to compute a producer's elements where they are read, rather than to store them.
class InliningCost {
public:
  InliningCost() = default;
  /// `pools`: maps between a convolution and the pooling of its results go into the pooling.
  InliningCost(mlir::Operation *op, bool pools) : sizes(op), pools(pools) {}

  /// Whether the producer of an operand should be computed within its reader. Copies go into copies only while
  /// copies settle.
  bool isProfitable(ComputeOp consumer, unsigned input, const ProducedTensor &producer, bool settlesCopies) const;

private:
  TypicalSizes sizes;
  bool pools = false;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_INLININGCOST_H
