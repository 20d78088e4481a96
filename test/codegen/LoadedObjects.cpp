#include "test/codegen/LoadedObjects.h"

#include "compiler/builtins/Builtins.h"
#include "runtime/machine/Processor.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <algorithm>

using namespace freestone;
using namespace freestone::test;

bool test::runsHere(const std::string &target) {
  runtime::Result<runtime::Processor> needed = runtime::Processor::parse(target), here = runtime::Processor::here();
  return needed.ok() && here.ok() && std::ranges::includes(here->features, needed->features);
}

std::vector<std::string> test::levelsHere() {
  std::vector<std::string> levels;
  for (std::string_view level : runtime::architecture::levels())
    if (runsHere(std::string(level)))
      levels.emplace_back(level);
  return levels;
}

LoadedObjects::LoadedObjects(std::unique_ptr<llvm::orc::LLJIT> jit) : jit(std::move(jit)) {}
LoadedObjects::LoadedObjects(LoadedObjects &&other) = default;
LoadedObjects &LoadedObjects::operator=(LoadedObjects &&other) = default;
LoadedObjects::~LoadedObjects() = default;

llvm::Expected<LoadedObjects> LoadedObjects::load(llvm::ArrayRef<codegen::Object> objects,
                                                  const DeviceDescription &device) {
  for (const auto *instructions : {&device.instructions, &device.tileInstructions})
    for (const std::string &each : *instructions)
      if (!runtime::architecture::request(each))
        return llvm::createStringError("the system does not let this process use " + each);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder()
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit)
    return jit.takeError();
  auto add = [&](llvm::ArrayRef<char> bytes, llvm::StringRef name) {
    return (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy({bytes.data(), bytes.size()}, name));
  };
  if (llvm::Error error = add(getBuiltinsObject(), "builtins"))
    return error;
  for (const codegen::Object &object : objects)
    if (llvm::Error error = add(object.bytes, object.name))
      return error;
  return LoadedObjects(std::move(*jit));
}

llvm::Expected<void *> LoadedObjects::find(llvm::StringRef symbol) const {
  auto address = jit->lookup(symbol);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}
