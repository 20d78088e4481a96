#ifndef FREESTONE_CACHE_STORE_H
#define FREESTONE_CACHE_STORE_H

#include "cache/Entry.h"
#include "cache/Folder.h"
#include "cache/KeyLock.h"
#include "cache/Settings.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace freestone::cache {

/// Thrown by a maker that could not write its result to the given path: the entry is made again elsewhere. Leaves the
/// store only if no place can be written.
struct CannotWrite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request to a cache.
struct Request {
  Kind kind;
  Ingredients ingredients;
  /// Called after the entry was made: whether the ingredients still hold, or a file has changed meanwhile.
  std::function<bool()> stillHolds;
};

/// A cached payload, or the exclusive turn to make it.
struct Claim {
  std::optional<std::string> payload;
  std::string about; ///< the maker's text about it
  /// During its lifetime others that want the entry wait; null if there is nothing to make or no lock.
  std::unique_ptr<KeyLock> turn;
};

/// A cache of compiled programs that many processes share. On any failure of its files (a full disk, a damaged entry,
/// an untrusted folder), the user gets one warning, a counter is incremented, and entries are made as if the cache were
/// empty. Not thread-safe.
class Store {
public:
  /// Writes the file `path` and returns a text about it for the entry. May throw anything, and CannotWrite.
  using Maker = std::function<std::string(const std::string &path)>;

  explicit Store(Settings settings, FileSystem &system = FileSystem::system());
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;
  /// Evicts entries, if any was added.
  ~Store();

  /// The entry, made if it is missing. Of concurrent processes that want it, one makes it and the others wait.
  Entry obtain(const Request &request, const Maker &make);

  /// Makes an entry outside the cache: in a file without a name in the temporary folder, or in memory if that can't be
  /// written.
  static Entry makeUnkept(const Maker &make, FileSystem &system = FileSystem::system());

  /// As `obtain`, for callers that make and keep the entry themselves: waits while another process makes it. Throws
  /// nothing.
  Claim claim(Kind kind, const Ingredients &ingredients);

  /// For small entries that are quickly made: without waiting for other makers. `about` gets the maker's text.
  std::optional<std::string> find(Kind kind, const Ingredients &ingredients, std::string *about = nullptr);
  void keep(Kind kind, const Ingredients &ingredients, std::string_view payload, const std::string &about);

  /// Null if the cache is off or unusable.
  const Folder *folder() const { return opened.get(); }
  const Settings &settings() const { return chosen; }
  /// The part of the timeout for locks of dead machines that is spent, for a nested cache within a maker.
  std::chrono::milliseconds lockTimeoutSpent() const { return spent; }

  /// Counters of this process: hits, misses, code_hits, code_misses, program_hits, program_misses, waits, kept,
  /// evicted, rejected (damaged entries) and failures (of file operations).
  const std::map<std::string, uint64_t> &counters() const { return counts; }
  /// Counters of all processes, as far as they could be written.
  std::map<std::string, uint64_t> totals() const;

private:
  std::optional<Entry> lookUp(Kind kind, const std::string &key);
  bool read(Kind kind, const std::string &key, Claim &claim);
  Entry makeKept(const Request &request, const std::string &key, const Maker &make);
  void publish(const Request &request, const std::string &key, const std::string &unfinished, Entry &entry);
  void evict();
  void count(const char *name, uint64_t times = 1);
  void countLookUp(Kind kind, bool isFound);
  void explainMissOf(Kind kind, const Ingredients &ingredients);
  void fail(const std::string &reason);

  FileSystem *system;
  Settings chosen;
  std::unique_ptr<Folder> opened;
  std::map<std::string, uint64_t> counts;
  std::chrono::milliseconds spent;
  bool mayExceed = false; ///< entries were added since the last eviction
  bool hasWarned = false;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_STORE_H
