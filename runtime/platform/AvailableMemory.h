#ifndef FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H
#define FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace freestone::runtime::platform {

/// Bytes that this process may still allocate: the machine's available memory, within the limits of its cgroups.
/// Nothing if the system does not report it. `root` contains /proc and /sys.
std::optional<uint64_t> availableMemory(const std::string &root = "");

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H
