#include "compiler/device/DeviceDescription.h"

#include "compiler/device/Architecture.h"
#include "runtime/platform/Caches.h"

using namespace freestone;

/// Keeps the defaults where the operating system gives no sizes.
static void describeMemory(DeviceDescription &device) {
  device.units = runtime::platform::coresOfMachine();
  std::vector<runtime::platform::Cache> caches = runtime::platform::dataCaches();
  if (!caches.empty())
    device.memoryLevels.clear();
  for (const runtime::platform::Cache &cache : caches)
    device.memoryLevels.push_back({cache.bytes, cache.lineBytes, cache.sharedBy});
}

llvm::Expected<DeviceDescription> DeviceDescription::get(llvm::StringRef target) {
  runtime::Result<runtime::Processor> processor = runtime::Processor::parse({target.data(), target.size()});
  if (!processor.ok())
    return llvm::createStringError(processor.status().message());
  DeviceDescription device;
  if (processor->isHere)
    describeMemory(device);
  if (llvm::Error error = describeProcessor(*processor, device))
    return error;
  return device;
}
