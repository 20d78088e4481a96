#ifndef FREESTONE_CACHE_EVICTION_H
#define FREESTONE_CACHE_EVICTION_H

#include "cache/Entry.h"
#include <chrono>
#include <cstdint>

namespace freestone::cache {

/// One entry of the folder.
struct EntryFile {
  Kind kind;
  std::string key;
  uint64_t bytes = 0;
  int64_t lastUse = 0; ///< nanoseconds since 1970
};

/// All entries, most recently used first. Throws FileError.
std::vector<EntryFile> listEntries(const Folder &folder);

/// Removes an entry. False: another process has it open.
bool removeEntry(const Folder &folder, const EntryFile &entry);

/// Removes the least recently used entries until all together have at most `maxBytes`. Open entries stay. Returns the
/// number of removed entries. Throws FileError.
uint64_t evict(const Folder &folder, uint64_t maxBytes);

/// How long unused hashes of files are kept, and how many hashes.
constexpr std::chrono::hours stampLife(24 * 90);
constexpr size_t mostStamps = 4096;

/// Removes hashes of files that were unused for so long, and the least recently used above `mostStamps`; they are
/// computed again when needed. Throws FileError.
void forgetStamps(const Folder &folder, std::chrono::hours unused);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_EVICTION_H
