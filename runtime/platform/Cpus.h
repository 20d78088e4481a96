#ifndef FREESTONE_RUNTIME_PLATFORM_CPUS_H
#define FREESTONE_RUNTIME_PLATFORM_CPUS_H

#include <optional>
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

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CPUS_H
