#ifndef FREESTONE_CACHE_EVICTION_H
#define FREESTONE_CACHE_EVICTION_H

#include "cache/Entry.h"
#include <chrono>
#include <cstdint>

namespace freestone::cache {

/// One entry as it lies in the folder.
struct EntryFile {
  Kind kind;
  std::string key;
  uint64_t bytes = 0;
  int64_t lastUse = 0; ///< nanoseconds since 1970
};

/// All entries, those used last first. Throws FileError.
std::vector<EntryFile> listEntries(const Folder &folder);

/// Removes one. False: a process has it open.
bool removeEntry(const Folder &folder, const EntryFile &entry);

/// Removes entries until all together have at most `maxBytes`, those first that were not used for the longest time.
/// What a process has open stays. Returns how many went. Throws FileError.
uint64_t evict(const Folder &folder, uint64_t maxBytes);

/// How long the hashes of files are remembered that are of no use, and of how many files.
constexpr std::chrono::hours stampLife(24 * 90);
constexpr size_t mostStamps = 4096;

/// Forgets the hashes of files that were of no use for so long, and of more than `mostStamps` those that were not used
/// for the longest time; they are computed again when needed. Throws FileError.
void forgetStamps(const Folder &folder, std::chrono::hours unused);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_EVICTION_H
