#ifndef FREESTONE_CACHE_COUNTERS_H
#define FREESTONE_CACHE_COUNTERS_H

#include "cache/Folder.h"
#include <cstdint>
#include <map>

namespace freestone::cache {

/// Counters shared by all processes that use a folder. Every count appends a byte to a file, so that processes count
/// concurrently without a lock; a file larger than a block is folded into the name of an empty file. A process that
/// dies or counts at that moment may make a total too small. Throws FileError.
class Counters {
public:
  explicit Counters(const Folder &folder) : folder(folder) {}

  /// Names must not contain dots.
  void add(const std::string &name, uint64_t times) const;
  /// All counts since the folder was made.
  std::map<std::string, uint64_t> totals() const;

private:
  void fold(const std::string &name) const;
  const Folder &folder;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_COUNTERS_H
