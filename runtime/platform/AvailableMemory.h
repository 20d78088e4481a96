#ifndef FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H
#define FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace freestone::runtime::platform {

/// Bytes that this process may still take: what the machine has to offer, within the limits of its cgroups. Nothing
/// where the system does not tell. `root` is the folder in which /proc and /sys are.
std::optional<uint64_t> availableMemory(const std::string &root = "");

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_AVAILABLEMEMORY_H
