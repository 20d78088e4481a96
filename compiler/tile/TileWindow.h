#ifndef FREESTONE_COMPILER_TILE_TILEWINDOW_H
#define FREESTONE_COMPILER_TILE_TILEWINDOW_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/WindowForm.h"

namespace freestone::tile {

/// Whether windows profit from register blocks of pixels: they overlap, and there are few output channels.
bool isWindowInRegisters(WindowForm &form);

WindowTilingAttr tileWindow(WindowForm &form, const DeviceDescription &device, bool shareRows);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_TILEWINDOW_H
