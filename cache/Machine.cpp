#include "cache/Machine.h"

#include "runtime/CpuFeatures.h"
#include <cpuid.h>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

using namespace freestone;
using Json = nlohmann::ordered_json;

namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers registers;
  __get_cpuid_count(leaf, subleaf, &registers.eax, &registers.ebx, &registers.ecx, &registers.edx);
  return registers;
}

std::string hexadecimal(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%llx", static_cast<unsigned long long>(value));
  return buffer;
}

/// "GenuineIntel family 6 model 143 stepping 8": what Intel and AMD call their processors by.
std::string nameProcessor(const Registers &vendor, const Registers &basic) {
  std::string name;
  for (uint32_t part : {vendor.ebx, vendor.edx, vendor.ecx})
    for (int shift : {0, 8, 16, 24})
      name += static_cast<char>(part >> shift);
  uint32_t family = basic.eax >> 8 & 15, model = basic.eax >> 4 & 15;
  if (family == 6 || family == 15)
    model += (basic.eax >> 16 & 15) << 4;
  if (family == 15)
    family += basic.eax >> 20 & 255;
  return name + " family " + std::to_string(family) + " model " + std::to_string(model) + " stepping " +
         std::to_string(basic.eax & 15);
}

/// Which registers the system saves; without AVX there is nothing to ask.
uint64_t savedState(const Registers &basic) {
  if (!(basic.ecx >> 27 & 1))
    return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

/// Which registers a process may have when it asks for them; 0 on systems that are not asked.
uint64_t savedOnRequest() {
  constexpr int getSupported = 0x1021;
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, getSupported, &supported) == 0 ? supported : 0;
}

} // namespace

std::string cache::describeMachine() {
  Registers vendor = cpuid(0), basic = cpuid(1), structured = cpuid(7), more = cpuid(7, 1),
            extended = cpuid(0x80000001);
  Json json = {{"processor", nameProcessor(vendor, basic)}};
  for (std::string_view feature : runtime::knownCpuFeatures())
    json["features"][feature] = runtime::hasCpuFeature(feature).value_or(false);
  json["l1_bytes"] = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  json["l2_bytes"] = sysconf(_SC_LEVEL2_CACHE_SIZE);
  json["l3_bytes"] = sysconf(_SC_LEVEL3_CACHE_SIZE);
  // All that the processor and the system say, with features that have no name here. Of leaf 1, ebx is left out: it
  // numbers the processor that asks.
  std::string bits;
  for (uint32_t part : {basic.eax, basic.ecx, basic.edx, structured.ebx, structured.ecx, structured.edx, more.eax,
                        more.ecx, more.edx, extended.ecx, extended.edx})
    bits += (bits.empty() ? "" : " ") + hexadecimal(part);
  json["cpuid"] = bits;
  json["saved_registers"] = hexadecimal(savedState(basic)) + " " + hexadecimal(savedOnRequest());
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
