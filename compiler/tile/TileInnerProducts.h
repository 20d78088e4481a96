#ifndef FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H
#define FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/tile/CostModel.h"

namespace freestone::tile {

/// Inner products for a contraction: blocks of rows and columns of its results, with vectors along k.
struct InnerProducts {
  int64_t rows, columns;
  /// The operand whose columns are packed one after another; nothing if steps of k are neighbours in memory.
  std::optional<unsigned> packed;

  /// Nothing if vectors can't run along k: operands are f32, rows of A contiguous along k, and what follows from a
  /// result is cheap enough to be computed result by result.
  static std::optional<InnerProducts> get(ContractionForm &form, const DeviceDescription &device);
  RowsTilingAttr getTiling(ContractionForm &form, const DeviceDescription &device) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEINNERPRODUCTS_H
