#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The geometry of a tiled contraction. Tiles are outer loops times row blocks times column blocks, row-major; a worker
/// computes neighbouring tiles in order, so that packed operands can be reused:
///   rows of A by all tiles of a row block, panels of B by all row blocks,
/// if k has at most `kept_depths` blocks and scratch holds the operands. The emitted code computes the sizes of blocks:
/// as expressions they would grow too large.
struct ContractionTiles {
  ContractionTilingAttr tiling;
  /// Steps of k in one step of a window; 1 if the vector operand is no window.
  int64_t taps;
  /// `depthBlocks` is at least one, so that an empty sum is written as well.
  sym::Expr rowBlocks, columnBlocks, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B and sums.
  sym::Expr packedRows, packedColumns, sums;

  static ContractionTiles get(ContractionForm &form, ContractionTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch(mlir::Type elementType) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H
