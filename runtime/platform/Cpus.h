#ifndef FREESTONE_RUNTIME_PLATFORM_CPUS_H
#define FREESTONE_RUNTIME_PLATFORM_CPUS_H

#include <optional>

namespace freestone::runtime::platform {

/// CPUs in the affinity mask of the calling thread; at least 1.
int affinityCpus();

/// CPUs that the cgroup's quota allows, rounded up; nothing without a quota.
std::optional<int> quotaCpus();

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CPUS_H
