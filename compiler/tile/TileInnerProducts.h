#ifndef FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H
#define FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/tile/CostModel.h"

namespace freestone::tile {

/// Inner products for a contraction: blocks of rows and columns of its results, with vectors along k.
struct InnerProducts {
  /// Rows of a block where there is a single column, and columns that lie along k where there is a single row: so many
  /// come side by side from memory, beyond what one prefetcher follows, and hide the latency of additions with a vector
  /// of sums each.
  static constexpr int64_t sideBySide = 8;

  int64_t rows, columns;
  /// The operand whose columns are packed one after another; nothing if steps of k are neighbours in memory.
  std::optional<unsigned> packed;

  /// Nothing if vectors can't run along k: operands are f32, rows of A contiguous along k, and what follows from a
  /// result is cheap enough to be computed result by result.
  static std::optional<InnerProducts> get(ContractionForm &form, const DeviceDescription &device);
  /// The same for a single column, and for a single row.
  InnerProducts getOfColumn() const { return {sideBySide, 1, packed}; }
  InnerProducts getOfRow() const { return packed ? *this : InnerProducts{1, sideBySide, {}}; }
  RowsTilingAttr getTiling(ContractionForm &form, const DeviceDescription &device) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H
