#ifndef FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H
#define FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H

#include <string>
#include <string_view>
#include <vector>

namespace freestone::runtime::platform {

/// A control group that holds this process.
struct Cgroup {
  std::string folder; ///< of its files
  bool isVersion2;    ///< which decides the files' names
};

/// The groups that may limit what `controller` ("cpu", "memory") hands out: each group's limit holds within those that
/// it encloses. Innermost first. `root` is the folder in which /proc and /sys are.
std::vector<Cgroup> findCgroups(std::string_view controller, const std::string &root);

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_LINUX_CGROUPS_H
