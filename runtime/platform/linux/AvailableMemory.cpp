#include "runtime/platform/AvailableMemory.h"

#include "runtime/platform/File.h"
#include "runtime/platform/linux/Cgroups.h"
#include <algorithm>
#include <array>
#include <sstream>

using namespace freestone::runtime;

namespace {

/// The number in a file of a single number; nothing for "max".
std::optional<uint64_t> readNumber(const std::string &path) {
  std::istringstream text(platform::readSmallFile(path));
  uint64_t number = 0;
  return text >> number ? std::optional(number) : std::nullopt;
}

/// The sum of the numbers after these names at the beginnings of lines.
std::optional<uint64_t> sumOf(const std::string &path, std::array<std::string, 2> names) {
  std::istringstream text(platform::readSmallFile(path));
  std::optional<uint64_t> sum;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t number = 0;
    if (words >> name >> number && std::ranges::find(names, name) != names.end())
      sum = sum.value_or(0) + number;
  }
  return sum;
}

std::optional<uint64_t> availableIn(const platform::Cgroup &group) {
  auto file = [&](const char *version1, const char *version2) {
    return group.folder + (group.isVersion2 ? version2 : version1);
  };
  std::optional<uint64_t> limit = readNumber(file("/memory.limit_in_bytes", "/memory.max")),
                          used = readNumber(file("/memory.usage_in_bytes", "/memory.current"));
  if (!limit || !used)
    return std::nullopt;
  // Page cache counts as available: the kernel reclaims it.
  std::string statistics = group.folder + "/memory.stat";
  std::optional<uint64_t> files = group.isVersion2 ? sumOf(statistics, {"active_file", "inactive_file"})
                                                   : sumOf(statistics, {"total_active_file", "total_inactive_file"});
  uint64_t taken = *used - std::min(*used, files.value_or(0));
  return *limit - std::min(taken, *limit);
}

} // namespace

std::optional<uint64_t> platform::availableMemory(const std::string &root) {
  std::optional<uint64_t> available = sumOf(root + "/proc/meminfo", {"MemAvailable:"});
  if (available)
    *available <<= 10;
  for (const Cgroup &group : findCgroups("memory", root))
    if (std::optional<uint64_t> inGroup = availableIn(group))
      available = std::min(available.value_or(UINT64_MAX), *inGroup);
  return available;
}
