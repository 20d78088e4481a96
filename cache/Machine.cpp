#include "cache/Machine.h"

#include <cpuid.h>
#include <cstdint>
#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>

using namespace freestone;

namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers registers;
  __get_cpuid_count(leaf, subleaf, &registers.eax, &registers.ebx, &registers.ecx, &registers.edx);
  return registers;
}

void append(std::string &text, const char *name, uint64_t value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%s%s=%llx", text.empty() ? "" : " ", name,
                static_cast<unsigned long long>(value));
  text += buffer;
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
  std::string text;
  Registers vendor = cpuid(0), basic = cpuid(1), structured = cpuid(7), more = cpuid(7, 1),
            extended = cpuid(0x80000001);
  append(text, "vendor", uint64_t(vendor.ecx) << 32 | vendor.ebx);
  append(text, "model", basic.eax);
  // ebx of this leaf is left out: it numbers the processor that asks.
  append(text, "basic", uint64_t(basic.ecx) << 32 | basic.edx);
  append(text, "structured", uint64_t(structured.ebx) << 32 | structured.ecx);
  append(text, "structured2", uint64_t(structured.edx) << 32 | more.eax);
  append(text, "structured3", uint64_t(more.ecx) << 32 | more.edx);
  append(text, "extended", uint64_t(extended.ecx) << 32 | extended.edx);
  append(text, "saved", savedState(basic));
  append(text, "requested", savedOnRequest());
  append(text, "l1", static_cast<uint64_t>(sysconf(_SC_LEVEL1_DCACHE_SIZE)));
  append(text, "l2", static_cast<uint64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE)));
  append(text, "l3", static_cast<uint64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE)));
  return text;
}
