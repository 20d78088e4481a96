#ifndef FREESTONE_COMPILER_TILE_TILESUMBLOCKS_H
#define FREESTONE_COMPILER_TILE_TILESUMBLOCKS_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/WindowForm.h"
#include "compiler/tile/TypicalRuns.h"

namespace freestone::tile {

/// Blocks of the sums of a product over the same positions, with vectors along these: such as the gradients of
/// depthwise filters, whose taps read the picture at places of their own and the gradient of the result at the same.
/// Each of a block's sums stays in a register, and what they share is loaded once for all.
struct SumBlocks {
  int64_t rows, columns;
  /// The operand with a border, which is copied; nothing if none has one.
  std::optional<unsigned> picture;

  /// Nothing if vectors can't run along the innermost positions, or if a block shares nothing. `window` is the form of
  /// the same program whose vectors run along the taps; nothing also where these fill vectors as well.
  static std::optional<SumBlocks> get(ContractionForm &form, std::optional<WindowForm> &window, const TypicalRuns &runs,
                                      const DeviceDescription &device);
  RowsTilingAttr getTiling(ContractionForm &form, const DeviceDescription &device) const;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILESUMBLOCKS_H
