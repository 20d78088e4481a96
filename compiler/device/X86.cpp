#include "compiler/device/Architecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace freestone;

/// Every feature of this machine for LLVM. Features known to the loader follow the loader: LLVM does not check whether
/// the operating system lets a process use AMX tiles.
static std::string listHostFeatures(const runtime::Processor &processor) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const runtime::architecture::Feature &known : runtime::architecture::features())
    features[llvm::StringRef(known.name.data(), known.name.size())] = processor.has(known.name);
  std::vector<std::string> all;
  for (const auto &feature : features)
    all.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(all);
  return llvm::join(all, ",") + ",";
}

/// The features that `changes` add to a level or remove from it.
static std::string listChanges(const runtime::Processor &processor) {
  std::string features;
  for (const std::string &change : processor.changes) {
    const runtime::architecture::Change &known = *llvm::find_if(
        runtime::architecture::changes(), [&](const auto &each) { return each.name == change.substr(1); });
    for (std::string_view feature : change.front() == '+' ? known.comes : known.goes)
      features += change.front() + std::string(feature) + ",";
  }
  return features;
}

static WordUnit choosePairUnit(const runtime::Processor &processor, llvm::StringRef cpu) {
  if (processor.has("amx-tile") && processor.has("amx-bf16"))
    return WordUnit::tiles;
  // Twice the rate of f32 on AMD's cores, half of it on Intel's: there it is used only on request.
  bool isAskedFor = llvm::is_contained(processor.changes, "+avx512bf16");
  bool isFast = processor.level == "host" && cpu.starts_with("znver");
  return processor.has("avx512bf16") && (isAskedFor || isFast) ? WordUnit::vectors : WordUnit::none;
}

static WordUnit chooseQuadUnit(const runtime::Processor &processor) {
  if (processor.has("amx-tile") && processor.has("amx-int8"))
    return WordUnit::tiles;
  return processor.has("avx512vnni") ? WordUnit::vectors : WordUnit::none;
}

llvm::Error freestone::describeProcessor(const runtime::Processor &processor, DeviceDescription &device) {
  if (!processor.hasLevel("x86-64-v3"))
    return llvm::createStringError("this processor lacks AVX2, FMA or another feature of x86-64-v3, which compiled "
                                   "programs need");
  bool isHost = processor.level == "host";
  device.triple = "x86_64-unknown-linux-gnu";
  device.cpu = isHost ? llvm::sys::getHostCPUName().str() : processor.level;
  device.features = isHost ? listHostFeatures(processor) : listChanges(processor);
  // Programs choose their vector width; the tuning of some processors would halve it.
  device.features += "-prefer-256-bit";
  for (std::string_view feature : processor.features)
    (feature.starts_with("amx-") ? device.tileInstructions : device.instructions).emplace_back(feature);
  bool isWide = processor.hasLevel("x86-64-v4");
  device.vectorBytes = isWide ? 64 : 32;
  device.vectorRegisters = isWide ? 32 : 16;
  device.roundsToBF16 = isWide && processor.has("avx512bf16");
  device.permutesBytes = isWide && processor.has("avx512vbmi");
  device.pairUnit = isWide ? choosePairUnit(processor, device.cpu) : WordUnit::none;
  device.quadUnit = isWide ? chooseQuadUnit(processor) : WordUnit::none;
  return llvm::Error::success();
}

llvm::Error freestone::requireInstructions(const DeviceDescription &device) {
  bool isWide = device.vectorBytes > 32 || device.vectorRegisters > 16;
  if (device.vectorBytes > 64 || device.vectorRegisters > 32)
    return llvm::createStringError("vector_bytes, vector_registers: x86 has at most 32 registers of 64 bytes");
  struct Need {
    const char *place;
    bool isThere;
    std::vector<llvm::StringRef> names;
  };
  // Tiles of words are moved by vectors of 64 bytes.
  const Need needs[] = {
      {"vector_bytes", true, {"avx2", "fma", "f16c"}},
      {"vector_bytes, vector_registers", isWide, {"avx512f", "avx512bw", "avx512dq", "avx512vl"}},
      {"rounds_to_bf16", device.roundsToBF16, {"avx512bf16"}},
      {"permutes_bytes", device.permutesBytes, {"avx512vbmi", "avx512bw"}},
      {"pair_unit", device.pairUnit == WordUnit::vectors, {"avx512bf16", "avx512vl"}},
      {"pair_unit", device.pairUnit == WordUnit::tiles, {"amx-tile", "amx-bf16", "avx512bw", "avx512vl"}},
      {"quad_unit", device.quadUnit == WordUnit::vectors, {"avx512vnni", "avx512vl"}},
      {"quad_unit", device.quadUnit == WordUnit::tiles, {"amx-tile", "amx-int8", "avx512bw", "avx512vl"}}};
  for (const Need &need : needs)
    for (llvm::StringRef name : need.names)
      if (need.isThere && !llvm::is_contained(device.instructions, name) &&
          !llvm::is_contained(device.tileInstructions, name))
        return llvm::createStringError(llvm::Twine(need.place) + ": this takes '" + name +
                                       "', which its instructions lack");
  return llvm::Error::success();
}
