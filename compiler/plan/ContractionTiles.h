#ifndef FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H
#define FREESTONE_COMPILER_PLAN_CONTRACTIONTILES_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The geometry that follows from a contraction's tiling. Tiles are outer loops times blocks of rows times blocks of
/// columns, row-major; a worker computes neighbours one after the other, so that packed operands of one tile can serve
/// the next ones:
///   rows of A all tiles of a block of rows, panels of B all blocks of rows,
/// where k has at most `kept_depths` blocks and scratch holds them. The size of a block is computed by the emitted code:
/// as expressions, such sizes grow beyond use.
struct ContractionTiles {
  ContractionTilingAttr tiling;
  /// Steps of k in one step of a window; 1 where the vector operand is none.
  int64_t taps;
  /// Of k: at least one, so that an empty sum is written too.
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
