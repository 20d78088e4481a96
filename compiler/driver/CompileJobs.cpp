#include "compiler/driver/CompileJobs.h"

#include "runtime/platform/Cpus.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using namespace llvm;
using namespace freestone;

/// What the largest programs take while LLVM works on them, with room to spare.
static constexpr uint64_t bytesOfJob = uint64_t(128) << 20;

static std::string readText(StringRef path) {
  auto file = MemoryBuffer::getFileAsStream(path);
  return file ? (*file)->getBuffer().str() : "";
}

static std::optional<uint64_t> readNumber(StringRef path) {
  uint64_t number;
  if (StringRef(readText(path)).trim().getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// Bytes that files take in the cgroup's memory, which the kernel takes back when programs need it.
static uint64_t readFileMemory() {
  uint64_t sum = 0;
  std::string text = readText("/sys/fs/cgroup/memory.stat");
  for (StringRef line : split(text, '\n')) {
    uint64_t bytes;
    if ((line.consume_front("active_file ") || line.consume_front("inactive_file ")) && !line.getAsInteger(10, bytes))
      sum += bytes;
  }
  return sum;
}

std::optional<uint64_t> driver::getAvailableMemory() {
  std::optional<uint64_t> available;
  std::string text = readText("/proc/meminfo");
  for (StringRef line : split(text, '\n')) {
    uint64_t kibibytes;
    if (line.consume_front("MemAvailable:") && !line.trim().consumeInteger(10, kibibytes))
      available = kibibytes << 10;
  }
  std::optional<uint64_t> limit = readNumber("/sys/fs/cgroup/memory.max"),
                          used = readNumber("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    uint64_t taken = *used - std::min(*used, readFileMemory());
    available = std::min(available.value_or(UINT64_MAX), *limit - std::min(taken, *limit));
  }
  return available;
}

unsigned driver::chooseCompileJobs(unsigned given, unsigned cpus, std::optional<uint64_t> memory) {
  if (given > 0)
    return given;
  cpus = std::max(1u, cpus);
  return memory ? static_cast<unsigned>(std::clamp<uint64_t>(*memory / bytesOfJob, 1, cpus)) : cpus;
}

unsigned driver::chooseCompileJobs(unsigned given) {
  int cpus = runtime::platform::affinityCpus();
  return chooseCompileJobs(given, std::min(cpus, runtime::platform::quotaCpus().value_or(cpus)), getAvailableMemory());
}
