#ifndef FREESTONE_CACHE_COUNTERS_H
#define FREESTONE_CACHE_COUNTERS_H

#include "cache/Folder.h"
#include <cstdint>
#include <map>

namespace freestone::cache {

/// Counts of all processes that use a folder. Every count is a byte at the end of a file, so that processes count at
/// the same time without a lock; what has grown to more than a block is folded into the name of an empty file. A
/// process that dies or counts in that moment may make a total too small. Throws FileError.
class Counters {
public:
  explicit Counters(const Folder &folder) : folder(folder) {}

  /// Names have no dots.
  void add(const std::string &name, uint64_t times) const;
  /// Of everything that was ever counted.
  std::map<std::string, uint64_t> totals() const;

private:
  void fold(const std::string &name) const;
  const Folder &folder;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_COUNTERS_H
