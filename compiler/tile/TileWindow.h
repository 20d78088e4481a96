#ifndef FREESTONE_COMPILER_TILE_TILEWINDOW_H
#define FREESTONE_COMPILER_TILE_TILEWINDOW_H

#include "compiler/plan/WindowForm.h"
#include "compiler/tile/TypicalRuns.h"
#include "compiler/tile/WindowCost.h"

namespace freestone::tile {

/// Whether windows profit from register blocks of pixels: they overlap, and there are few output channels.
bool isWindowInRegisters(WindowForm &form);

/// Windows at the sizes of each run; the last vectors of rows may overlap those before, and the picture may be read in
/// place.
llvm::SmallVector<WindowProblem> getWindowProblems(WindowForm &form, const DeviceDescription &device,
                                                   const TypicalRuns &runs, bool overlaps, bool inPlace);
/// Windows at sizes that `valueOf` evaluates.
WindowProblem getWindowProblem(WindowForm &form, const DeviceDescription &device,
                               llvm::function_ref<int64_t(sym::Expr)> valueOf);

/// Tilings of windows, the best one first: constructed and ranked by the model at typical sizes, none of which may be
/// missing. Deterministic.
llvm::SmallVector<WindowShares> constructWindow(llvm::ArrayRef<WindowProblem> problems, const DeviceDescription &device,
                                                bool shareRows);

/// The tiling of windows: constructed, or by the capacities of the device alone. Where it `brings`, what the next tile
/// reads and writes is prefetched.
WindowTilingAttr tileWindow(WindowForm &form, llvm::ArrayRef<WindowProblem> problems, const DeviceDescription &device,
                            bool shareRows, bool construct, bool alongChannels, bool brings);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEWINDOW_H
