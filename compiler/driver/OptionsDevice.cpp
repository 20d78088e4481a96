#include "compiler/driver/OptionsDevice.h"

using namespace freestone;

llvm::Expected<DeviceDescription> driver::getDevice(const Options &options) {
  if (!options.device)
    return DeviceDescription::get(options.target, options.rates);
  llvm::Expected<DeviceDescription> given = DeviceDescription::fromJson(options.device->json);
  if (!given)
    return llvm::createStringError(options.device->name + ": " + llvm::toString(given.takeError()));
  return given;
}
