#include "runtime/platform/Cpus.h"

#include "runtime/platform/File.h"
#include "runtime/platform/linux/Cgroups.h"
#include <algorithm>
#include <mutex>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace freestone::runtime;

int platform::affinityCpus() {
  // The kernel refuses masks smaller than its own.
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

uint64_t platform::preemptions() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

void platform::leaveCpu(int cpu) {
  cpu_set_t all;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
    return;
  cpu_set_t others = all;
  CPU_CLR(cpu, &others);
  if (sched_setaffinity(0, sizeof(others), &others) == 0)
    sched_setaffinity(0, sizeof(all), &all);
}

struct platform::SleepMask::Masks {
  std::mutex mutex; ///< protects all members below
  bool isInUse = false;
  pid_t thread = 0;
  cpu_set_t whole, narrow;

  bool isNarrow() const { return isInUse && !CPU_EQUAL(&narrow, &whole); }
  bool avoid(std::span<const int> cpus) {
    cpu_set_t wanted = whole;
    for (int cpu : cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_CLR(cpu, &wanted);
    bool isNew = CPU_COUNT(&wanted) > 0 && !CPU_EQUAL(&wanted, &narrow);
    if (isNew && sched_setaffinity(thread, sizeof(wanted), &wanted) == 0)
      narrow = wanted;
    return isNarrow();
  }
};

platform::SleepMask::SleepMask() : masks(std::make_unique<Masks>()) {}
platform::SleepMask::~SleepMask() = default;

bool platform::SleepMask::avoid(std::span<const int> cpus) {
  std::lock_guard lock(masks->mutex);
  if (!masks->isInUse) {
    masks->thread = gettid();
    masks->isInUse = sched_getaffinity(0, sizeof(cpu_set_t), &masks->whole) == 0;
    masks->narrow = masks->whole;
  }
  return masks->isInUse && masks->avoid(cpus);
}

bool platform::SleepMask::allows(int cpu) const {
  std::lock_guard lock(masks->mutex);
  return masks->isInUse && cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &masks->narrow);
}

void platform::SleepMask::avoidInstead(std::span<const int> cpus) {
  std::lock_guard lock(masks->mutex);
  if (masks->isInUse)
    masks->avoid(cpus);
}

void platform::SleepMask::restore() {
  std::lock_guard lock(masks->mutex);
  cpu_set_t found;
  if (masks->isNarrow() && sched_getaffinity(0, sizeof(found), &found) == 0 && CPU_EQUAL(&found, &masks->narrow))
    sched_setaffinity(0, sizeof(masks->whole), &masks->whole);
  masks->isInUse = false;
}

namespace {

std::optional<int> quotient(double quota, double period) {
  if (quota <= 0 || period <= 0)
    return std::nullopt;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

/// Parses "max 100000" or "150000 100000".
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
