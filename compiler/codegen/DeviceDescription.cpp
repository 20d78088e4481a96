#include "compiler/codegen/DeviceDescription.h"

#include "runtime/CpuFeatures.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

using namespace freestone;

static constexpr llvm::StringLiteral avx512Features[] = {"avx512f", "avx512bw", "avx512dq", "avx512vl"};

/// The first line of a file of sysfs, or nothing.
static std::string readLine(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().split('\n').first.str() : std::string();
}

/// Keeps the defaults where the system does not say.
static void probeCaches(DeviceDescription &device) {
  for (unsigned index = 0; index < 8; ++index) {
    std::string folder = ("/sys/devices/system/cpu/cpu0/cache/index" + llvm::Twine(index)).str();
    llvm::StringRef size;
    std::string sizeText = readLine(folder + "/size"), level = readLine(folder + "/level");
    size = sizeText;
    int64_t unit = size.consume_back("K") ? 1 << 10 : size.consume_back("M") ? 1 << 20 : 1;
    int64_t bytes;
    if (readLine(folder + "/type") == "Instruction" || size.getAsInteger(10, bytes) || bytes <= 0)
      continue;
    (level == "1" ? device.l1Bytes : level == "2" ? device.l2Bytes : device.l3Bytes) = bytes * unit;
  }
}

static void setVectors(DeviceDescription &device, bool avx512) {
  device.vectorBytes = avx512 ? 64 : 32;
  device.vectorRegisters = avx512 ? 32 : 16;
}

static llvm::Expected<DeviceDescription> describeBaseline(llvm::StringRef target) {
  DeviceDescription device;
  device.cpu = target.str();
  setVectors(device, target == "x86-64-v4");
  // Programs ask for the width that they want; the tuning of some processors would halve it.
  device.features = "-prefer-256-bit";
  return device;
}

static llvm::Expected<DeviceDescription> describeHost() {
  DeviceDescription device;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (!features.lookup("avx2") || !features.lookup("fma"))
    return llvm::createStringError("this processor has no AVX2 and FMA, which compiled programs need");
  device.cpu = llvm::sys::getHostCPUName().str();
  // LLVM does not ask whether the system lets a process have tiles.
  for (const char *name : {"amx-tile", "amx-bf16"})
    features[name] = runtime::hasCpuFeature(name).value_or(false);
  llvm::SmallVector<std::string> all;
  for (const auto &feature : features)
    all.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(all);
  all.push_back("-prefer-256-bit");
  for (llvm::StringRef feature : all)
    device.features += (device.features.empty() ? "" : ",") + feature.str();
  setVectors(device, llvm::all_of(avx512Features, [&](llvm::StringRef name) { return features.lookup(name); }));
  probeCaches(device);
  if (device.vectorBytes < 64)
    return device;
  device.roundsToBF16 = features.lookup("avx512bf16");
  if (features.lookup("amx-tile") && features.lookup("amx-bf16"))
    device.pairUnit = PairUnit::tiles;
  else if (features.lookup("avx512bf16") && llvm::StringRef(device.cpu).starts_with("znver"))
    device.pairUnit = PairUnit::vectors; // At twice the rate of f32; on Intel's cores at half of it.
  return device;
}

/// Adds or takes what the text behind a target's name says.
static llvm::Error adjust(DeviceDescription &device, llvm::StringRef change) {
  llvm::StringRef feature = change.drop_front(change.empty() ? 0 : 1);
  bool isTiles = feature == "amx-bf16";
  if ((!isTiles && feature != "avx512bf16") || (change.front() != '+' && change.front() != '-'))
    return llvm::createStringError("unknown feature '" + change +
                                   "' of a target; there are amx-bf16 and avx512bf16, with + or -");
  if (device.vectorBytes < 64)
    return llvm::createStringError("'" + change + "' is for targets with AVX-512");
  PairUnit unit = isTiles ? PairUnit::tiles : PairUnit::vectors;
  std::string sign(1, change.front());
  if (sign == "+")
    device.pairUnit = unit;
  else if (device.pairUnit == unit)
    device.pairUnit = PairUnit::none;
  device.features += "," + sign + feature.str();
  if (isTiles)
    device.features += "," + sign + "amx-tile";
  // Every processor that multiplies tiles of bf16 also rounds vectors to them.
  if (isTiles && sign == "+")
    device.features += ",+avx512bf16";
  if (sign == "+" || !isTiles)
    device.roundsToBF16 = sign == "+";
  return llvm::Error::success();
}

llvm::Expected<DeviceDescription> DeviceDescription::get(llvm::StringRef target) {
  auto [name, changes] = target.split(',');
  if (name != "host" && name != "x86-64-v3" && name != "x86-64-v4")
    return llvm::createStringError("unknown target '" + name + "'; it is host, x86-64-v3 or x86-64-v4");
  llvm::Expected<DeviceDescription> device = name == "host" ? describeHost() : describeBaseline(name);
  if (!device)
    return device;
  device->triple = "x86_64-unknown-linux-gnu";
  while (!changes.empty()) {
    llvm::StringRef change;
    std::tie(change, changes) = changes.split(',');
    if (llvm::Error error = adjust(*device, change))
      return error;
  }
  return device;
}
