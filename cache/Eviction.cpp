#include "cache/Eviction.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/file.h>

using namespace freestone::cache;

static int64_t changeOf(const struct stat &status) {
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::vector<EntryFile> freestone::cache::listEntries(const Folder &folder) {
  std::vector<EntryFile> entries;
  for (Kind kind : allKinds) {
    std::string prefix = nameOf(kind);
    for (std::string &key : folder.list(prefix)) {
      struct stat status, stamp;
      if (!folder.status(prefix + "/" + key, status))
        continue;
      EntryFile entry{kind, key, static_cast<uint64_t>(status.st_size), changeOf(status)};
      if (folder.status("stamp/" + prefix + "-" + key, stamp))
        entry.lastUse = std::max(entry.lastUse, changeOf(stamp));
      entries.push_back(std::move(entry));
    }
  }
  std::ranges::sort(entries, std::greater(), &EntryFile::lastUse);
  return entries;
}

bool freestone::cache::removeEntry(const Folder &folder, const EntryFile &entry) {
  std::string name = std::string(nameOf(entry.kind)) + "/" + entry.key;
  try {
    // Network file systems grant exclusive locks only on files opened for writing.
    File file = folder.open(name, O_RDWR | O_NOFOLLOW);
    try {
      if (!file.lock(LOCK_EX | LOCK_NB))
        return false;
    } catch (const FileError &) {
      // Without locks the entry may be open elsewhere; its bytes stay readable there.
    }
    folder.remove(name);
  } catch (const FileError &error) {
    if (error.code != ENOENT)
      throw;
  }
  folder.remove("stamp/" + std::string(nameOf(entry.kind)) + "-" + entry.key);
  return true;
}

/// The bytes of what is no entry: counters, stamps, the rates of machines, and the tag of the folder.
static uint64_t countOtherBytes(const Folder &folder) {
  uint64_t bytes = 0;
  struct stat status;
  for (std::string place : {"count", "machine", "stamp"})
    for (const std::string &name : folder.list(place))
      if (folder.status(place + "/" + name, status))
        bytes += status.st_size;
  if (folder.status("CACHEDIR.TAG", status))
    bytes += status.st_size;
  return bytes;
}

uint64_t freestone::cache::evict(const Folder &folder, uint64_t maxBytes) {
  std::vector<EntryFile> entries = listEntries(folder);
  uint64_t bytes = countOtherBytes(folder), removed = 0;
  for (const EntryFile &entry : entries)
    bytes += entry.bytes;
  for (auto oldest = entries.rbegin(); bytes > maxBytes && oldest != entries.rend(); ++oldest)
    if (removeEntry(folder, *oldest)) {
      bytes -= oldest->bytes;
      ++removed;
    }
  return removed;
}

void freestone::cache::forgetStamps(const Folder &folder, std::chrono::hours unused) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  int64_t oldest = std::chrono::duration_cast<std::chrono::nanoseconds>(now - unused).count();
  std::vector<std::pair<int64_t, std::string>> stamps;
  for (std::string &stamp : folder.list("stamp")) {
    struct stat status;
    if (folder.status("stamp/" + stamp, status))
      stamps.emplace_back(changeOf(status), std::move(stamp));
  }
  std::ranges::sort(stamps, std::greater());
  for (size_t i = 0; i < stamps.size(); ++i)
    if (i >= mostStamps || stamps[i].first <= oldest)
      folder.remove("stamp/" + stamps[i].second);
}
