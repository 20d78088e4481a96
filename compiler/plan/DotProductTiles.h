#ifndef FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H
#define FREESTONE_COMPILER_PLAN_DOTPRODUCTTILES_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The geometry that follows from the tiling of a contraction of bf16 whose products are summed in pairs of steps of k.
/// Rows of A are packed in strips, B in panels, both padded with zeros to whole groups of steps. Tiles are outer loops
/// times blocks of rows times blocks of columns, row-major; packed operands of one tile serve the next ones of a worker:
/// rows of A all tiles of a block of rows where k is one block, panels of B all blocks of rows where scratch holds them.
struct DotProductTiles {
  /// Rows of a strip, columns of a panel, and steps of a group: two tiles of a matrix unit.
  static constexpr int64_t unit = 32;
  /// A group of steps of a strip or panel.
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
