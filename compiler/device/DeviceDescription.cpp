#include "compiler/device/DeviceDescription.h"

#include "compiler/device/Architecture.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
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

/// Rates of a machine that has fewer levels than were measured are not its own.
static llvm::Error addRates(llvm::StringRef text, DeviceDescription &device) {
  llvm::Expected<Rates> rates = Rates::fromJson(text);
  if (!rates)
    return rates.takeError();
  if (rates->levels.size() > device.memoryLevels.size())
    return llvm::createStringError("there are rates of more memory levels than this machine has");
  device.rates = std::move(*rates);
  return llvm::Error::success();
}

llvm::Expected<DeviceDescription> DeviceDescription::get(llvm::StringRef target, llvm::StringRef rates) {
  if (target.starts_with("{"))
    return fromJson(target);
  runtime::Result<runtime::Processor> processor = runtime::Processor::parse({target.data(), target.size()});
  if (!processor.ok())
    return llvm::createStringError(processor.status().message());
  DeviceDescription device;
  if (processor->isHere)
    describeMemory(device);
  if (llvm::Error error = describeProcessor(*processor, device))
    return error;
  if (processor->isHere && !rates.empty())
    if (llvm::Error error = addRates(rates, device))
      return error;
  return device;
}

mlir::FailureOr<DeviceDescription> DeviceDescription::getFor(mlir::Operation *op, llvm::StringRef target) {
  llvm::Expected<DeviceDescription> device = get(target);
  if (!device)
    return op->emitError(llvm::toString(device.takeError()));
  return std::move(*device);
}
