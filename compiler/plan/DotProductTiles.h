#ifndef FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H
#define FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The geometry of a tiled bf16 contraction with dot products over pairs of steps of k. Rows of A are packed in strips,
/// B in panels, both padded with zeros to whole groups of steps. Tiles are outer loops times row blocks times column
/// blocks, row-major. Packed operands are reused by a worker's next tiles: rows of A by all tiles of a row block if k
/// has one block, panels of B by all row blocks if scratch holds them.
struct DotProductTiles {
  /// Rows of a strip, columns of a panel, and steps of a group: two tiles of a matrix unit.
  static constexpr int64_t unit = 32;
  /// Elements of one group of a strip or panel.
  static constexpr int64_t groupElements = unit * unit;

  DotProductTilingAttr tiling;
  sym::Expr rowBlocks, columnBlocks, depthBlocks;
  sym::Expr tiles;
  /// Elements of scratch for packed rows of A, packed panels of B (bf16) and sums (f32).
  sym::Expr packedRows, packedColumns, sums;

  static DotProductTiles get(ContractionForm &form, DotProductTilingAttr tiling);
  /// Bytes of scratch of a worker.
  sym::Expr getScratch() const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H
