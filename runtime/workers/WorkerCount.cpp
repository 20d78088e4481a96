#include "runtime/workers/WorkerCount.h"

#include "runtime/platform/Cpus.h"
#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace freestone::runtime;

namespace {

/// A positive integer at the beginning of the variable; OMP_NUM_THREADS may be a list, which begins with the outermost
/// level.
std::optional<int> readLimit(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text)
    return std::nullopt;
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  bool isNumber = end != text && (*end == '\0' || *end == ',');
  if (!isNumber || value < 1)
    return std::nullopt;
  return static_cast<int>(std::min(value, 1L << 16));
}

} // namespace

WorkerCount freestone::runtime::chooseWorkerCount(int requested) {
  if (requested > 0)
    return {requested, "asked for"};
  WorkerCount count{platform::affinityCpus(), ""};
  count.reason = std::to_string(count.workers) + " CPUs in the affinity mask";
  auto limit = [&](std::optional<int> most, const std::string &what) {
    if (!most)
      return;
    count.workers = std::min(count.workers, *most);
    count.reason += ", " + what + " " + std::to_string(*most);
  };
  limit(platform::quotaCpus(), "cgroup quota of");
  limit(readLimit("OMP_NUM_THREADS"), "OMP_NUM_THREADS");
  limit(readLimit("FREESTONE_NUM_THREADS"), "FREESTONE_NUM_THREADS");
  return count;
}
