#ifndef FREESTONE_RUNTIME_PLATFORM_CPUS_H
#define FREESTONE_RUNTIME_PLATFORM_CPUS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace freestone::runtime::platform {

/// CPUs in the affinity mask of the calling thread; at least 1.
int affinityCpus();

/// CPUs that the quotas of this process's cgroups allow, rounded up; nothing without a quota. `root` contains /proc and
/// /sys.
std::optional<int> quotaCpus(const std::string &root = "");

/// The CPU of the calling thread, possibly outdated on return.
int currentCpu();

/// How often the calling thread has lost its CPU to another thread although it was not done.
uint64_t preemptions();

/// Moves the calling thread from `cpu` to another CPU of its affinity mask, which stays unchanged. No effect without
/// another CPU.
void leaveCpu(int cpu);

/// A temporary affinity mask for a thread during its sleep. Otherwise the scheduler chooses where it wakes, possibly on
/// the CPU of the waker, where it has to queue.
class SleepMask {
public:
  SleepMask();
  ~SleepMask();

  /// Called by the thread itself before it sleeps: removes `cpus` from its mask until `restore`, and returns whether it
  /// did. No effect if no CPU would be left; invalid CPU numbers are ignored.
  bool avoid(std::span<const int> cpus);
  /// Called by any thread, between `avoid` and `restore` (otherwise false and without effect): whether the sleeper may
  /// wake on a CPU; and a new set of CPUs to avoid.
  bool allows(int cpu) const;
  void avoidInstead(std::span<const int> cpus);
  /// Called by the thread itself: restores its mask, unless others have changed it meanwhile.
  void restore();

private:
  struct Masks;
  std::unique_ptr<Masks> masks;
};

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CPUS_H
