#include "compiler/driver/CompileJobs.h"

#include "runtime/platform/AvailableMemory.h"
#include "runtime/platform/Cpus.h"
#include <algorithm>

using namespace freestone;

/// Memory that LLVM needs for the largest programs, with a margin.
static constexpr uint64_t bytesOfJob = uint64_t(128) << 20;

unsigned driver::chooseCompileJobs(unsigned given, unsigned cpus, std::optional<uint64_t> memory) {
  if (given > 0)
    return given;
  cpus = std::max(1u, cpus);
  return memory ? static_cast<unsigned>(std::clamp<uint64_t>(*memory / bytesOfJob, 1, cpus)) : cpus;
}

unsigned driver::chooseCompileJobs(unsigned given) {
  using namespace runtime::platform;
  int cpus = affinityCpus();
  return chooseCompileJobs(given, std::min(cpus, quotaCpus().value_or(cpus)), availableMemory());
}
