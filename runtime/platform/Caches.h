#ifndef FREESTONE_RUNTIME_PLATFORM_CACHES_H
#define FREESTONE_RUNTIME_PLATFORM_CACHES_H

#include <cstdint>
#include <string>
#include <vector>

namespace freestone::runtime::platform {

/// A data or unified cache.
struct Cache {
  int64_t bytes;
  unsigned lineBytes;
  /// Cores that share it.
  unsigned sharedBy;
};

/// The caches of the first CPU, nearest first; empty if the system does not report them. `root` contains /sys.
std::vector<Cache> dataCaches(const std::string &root = "");

/// Cores of the machine, even those that this process may not use; at least 1. `root` as above.
unsigned coresOfMachine(const std::string &root = "");

} // namespace freestone::runtime::platform

#endif // FREESTONE_RUNTIME_PLATFORM_CACHES_H
