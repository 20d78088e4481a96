#ifndef FREESTONE_RUNTIME_PLATFORM_CPUS_H
#define FREESTONE_RUNTIME_PLATFORM_CPUS_H

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace freestone::runtime::platform {

/// CPUs in the affinity mask of the calling thread; at least 1.
int affinityCpus();

/// CPUs that the quotas of this process's cgroups allow, rounded up; nothing without a quota. `root` is the folder in
/// which /proc and /sys are.
std::optional<int> quotaCpus(const std::string &root = "");

/// The CPU that the calling thread runs on; it may have moved when this returns.
int currentCpu();

/// Moves the calling thread from `cpu` to another CPU of its affinity mask, which stays as it is. Does nothing when
/// there is no other.
void leaveCpu(int cpu);

/// The affinity mask of a thread that sleeps away from some CPUs. Where a thread wakes is the scheduler's choice
/// otherwise, which may be the CPU of the one who wakes it, behind that one.
class SleepMask {
public:
  SleepMask();
  ~SleepMask();

  /// For the thread itself, before it sleeps: takes `cpus` out of its mask until `restore`, and returns whether it did.
  /// Does nothing where no CPU were left; numbers that are no CPU's are skipped.
  bool avoid(std::span<const int> cpus);
  /// For any thread, between `avoid` and `restore`; elsewhere false and without effect: whether this one may wake on a
  /// CPU, and other CPUs that it is to avoid.
  bool allows(int cpu) const;
  void avoidInstead(std::span<const int> cpus);
  /// For the thread itself: gives back the mask that it had, unless someone else has changed it meanwhile.
  void restore();

private:
  struct Masks;
  std::unique_ptr<Masks> masks;
};

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CPUS_H
