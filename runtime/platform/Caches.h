#ifndef FREESTONE_RUNTIME_PLATFORM_CACHES_H
#define FREESTONE_RUNTIME_PLATFORM_CACHES_H

#include <cstdint>
#include <string>
#include <vector>

namespace freestone::runtime::platform {

/// A cache for data.
struct Cache {
  int64_t bytes;
  unsigned lineBytes;
  /// Cores that have it together.
  unsigned sharedBy;
};

/// Those of the first CPU, the nearest first; none where the system does not tell. `root` is the folder in which /sys
/// is.
std::vector<Cache> dataCaches(const std::string &root = "");

/// Cores of the machine, whichever of them this process may use; at least 1. `root` as above.
unsigned coresOfMachine(const std::string &root = "");

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CACHES_H
