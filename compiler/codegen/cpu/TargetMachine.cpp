#include "compiler/codegen/cpu/TargetMachine.h"

#include "compiler/device/Architecture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace freestone;

static const llvm::Target *findTarget(const llvm::Triple &triple) {
  static const bool failed = llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter();
  std::string error;
  return failed ? nullptr : llvm::TargetRegistry::lookupTarget(triple, error);
}

std::unique_ptr<llvm::TargetMachine> codegen::createTargetMachine(const DeviceDescription &device) {
  llvm::Triple triple(device.triple);
  const llvm::Target *target = findTarget(triple);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, device.cpu, device.features, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Default));
}

static llvm::Error refuse(const llvm::Twine &place, const llvm::Twine &why) {
  return llvm::createStringError(place + ": " + why);
}

llvm::Error codegen::requireConsistent(const DeviceDescription &device) {
  llvm::Triple triple(device.triple);
  llvm::StringRef own(runtime::architecture::name());
  const llvm::Target *target = triple.getArchName() == own ? findTarget(triple) : nullptr;
  if (!target)
    return refuse("triple", "this compiler makes code for " + own + "-unknown-linux-gnu only");
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known->isCPUStringValid(device.cpu))
    return refuse("cpu", "LLVM knows no processor '" + device.cpu + "'");
  for (llvm::StringRef feature : llvm::split(device.features, ',')) {
    if (feature.empty())
      continue;
    bool isKnown = llvm::any_of(known->getAllProcessorFeatures(),
                                [&](const llvm::SubtargetFeatureKV &each) { return feature.drop_front() == each.Key; });
    if (!isKnown || !llvm::StringRef("+-").contains(feature.front()))
      return refuse("features", "LLVM knows no '" + feature + "', which begins with + or -");
  }
  std::unique_ptr<llvm::MCSubtargetInfo> machine(target->createMCSubtargetInfo(triple, device.cpu, device.features));
  auto mayUse = [&](llvm::StringRef name) { return machine->checkFeatures(("+" + name).str()); };
  auto isListed = [&](llvm::StringRef name) {
    return llvm::is_contained(device.instructions, name) || llvm::is_contained(device.tileInstructions, name);
  };
  // A machine that lacks an instruction set refuses an artifact only if that is listed.
  for (const runtime::architecture::Feature &feature : runtime::architecture::features())
    if (mayUse(feature.name) && !isListed(feature.name))
      return refuse("instructions", "they lack '" + llvm::StringRef(feature.name) + "', which its features have");
  for (const auto *names : {&device.instructions, &device.tileInstructions})
    for (llvm::StringRef name : *names)
      if (!runtime::isKnownFeature(name) || !mayUse(name))
        return refuse("instructions", "they have '" + name + "', which its features lack");
  return requireInstructions(device);
}
