#include "runtime/platform/Cpus.h"

#include "runtime/platform/File.h"
#include "runtime/platform/linux/Cgroups.h"
#include <algorithm>
#include <sched.h>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace freestone::runtime;

int platform::affinityCpus() {
  // The kernel refuses masks that are smaller than its own.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    cpu_set_t *set = CPU_ALLOC(capacity);
    size_t bytes = CPU_ALLOC_SIZE(capacity);
    int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

int platform::currentCpu() { return sched_getcpu(); }

void platform::leaveCpu(int cpu) {
  cpu_set_t all;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
    return;
  cpu_set_t others = all;
  CPU_CLR(cpu, &others);
  if (sched_setaffinity(0, sizeof(others), &others) == 0)
    sched_setaffinity(0, sizeof(all), &all);
}

namespace {

std::optional<int> quotient(double quota, double period) {
  if (quota <= 0 || period <= 0)
    return std::nullopt;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

/// "max 100000" or "150000 100000".
std::optional<int> quotaOfVersion2(const std::string &folder) {
  std::istringstream text(platform::readSmallFile(folder + "/cpu.max"));
  double quota = 0, period = 0;
  if (!(text >> quota >> period))
    return std::nullopt;
  return quotient(quota, period);
}

std::optional<int> quotaOfVersion1(const std::string &folder) {
  std::istringstream quotaText(platform::readSmallFile(folder + "/cpu.cfs_quota_us"));
  std::istringstream periodText(platform::readSmallFile(folder + "/cpu.cfs_period_us"));
  double quota = 0, period = 0;
  if (!(quotaText >> quota) || !(periodText >> period))
    return std::nullopt;
  return quotient(quota, period);
}

} // namespace

std::optional<int> platform::quotaCpus(const std::string &root) {
  std::optional<int> least;
  for (const Cgroup &group : findCgroups("cpu", root))
    if (auto quota = group.isVersion2 ? quotaOfVersion2(group.folder) : quotaOfVersion1(group.folder))
      least = std::min(*quota, least.value_or(*quota));
  return least;
}
