#ifndef FREESTONE_COMPILER_DRIVER_OPTIONSDEVICE_H
#define FREESTONE_COMPILER_DRIVER_OPTIONSDEVICE_H

#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Options.h"

namespace freestone::driver {

/// The device that options describe: `device`, else `target` with `rates`.
llvm::Expected<DeviceDescription> getDevice(const Options &options);

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_OPTIONSDEVICE_H
