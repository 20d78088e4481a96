#ifndef FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H
#define FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H

#include <string>
#include <string_view>
#include <vector>

namespace freestone::runtime::platform {

/// A control group that holds this process.
struct Cgroup {
  std::string folder; ///< of its files
  bool isVersion2;    ///< decides the files' names
};

/// The groups whose limits of `controller` ("cpu", "memory") apply to this process: a limit applies to all nested
/// groups. Innermost first. `root` contains /proc and /sys.
std::vector<Cgroup> findCgroups(std::string_view controller, const std::string &root);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H
