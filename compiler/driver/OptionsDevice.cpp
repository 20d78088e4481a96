#include "compiler/driver/OptionsDevice.h"

using namespace freestone;

llvm::Expected<DeviceDescription> driver::getDevice(const Options &options) {
  if (!options.device)
    return DeviceDescription::get(options.target, options.rates);
  llvm::Expected<DeviceDescription> given = DeviceDescription::fromJson(*options.device);
  if (!given)
    return llvm::createStringError("the given device: " + llvm::toString(given.takeError()));
  return given;
}
