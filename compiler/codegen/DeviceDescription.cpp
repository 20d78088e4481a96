#include "compiler/codegen/DeviceDescription.h"

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

llvm::Expected<DeviceDescription> DeviceDescription::get(llvm::StringRef target) {
  DeviceDescription device;
  device.triple = "x86_64-unknown-linux-gnu";
  if (target == "x86-64-v3" || target == "x86-64-v4") {
    device.cpu = target.str();
    setVectors(device, target == "x86-64-v4");
    // Programs ask for the width that they want; the tuning of some processors would halve it.
    device.features = "-prefer-256-bit";
    return device;
  }
  if (target != "host")
    return llvm::createStringError("unknown target '" + target + "'; it is host, x86-64-v3 or x86-64-v4");

  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (!features.lookup("avx2") || !features.lookup("fma"))
    return llvm::createStringError("this processor has no AVX2 and FMA, which compiled programs need");
  device.cpu = llvm::sys::getHostCPUName().str();
  llvm::SmallVector<std::string> all;
  for (const auto &feature : features)
    all.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(all);
  all.push_back("-prefer-256-bit");
  for (llvm::StringRef feature : all)
    device.features += (device.features.empty() ? "" : ",") + feature.str();
  setVectors(device, llvm::all_of(avx512Features, [&](llvm::StringRef name) { return features.lookup(name); }));
  probeCaches(device);
  return device;
}
