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

/// Thrown by a maker whose result could not be written where it was asked for: it is made again elsewhere. Leaves the
/// store only if it can't be written anywhere.
struct CannotWrite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is asked of a cache.
struct Request {
  Kind kind;
  Ingredients ingredients;
  /// Asked when the entry has been made: whether it was made of these ingredients, or of a file that has changed
  /// meanwhile.
  std::function<bool()> stillHolds;
};

/// What a cache has, or the turn to make it.
struct Claim {
  std::optional<std::string> payload;
  std::string about; ///< what its maker said about it
  /// While this lives, others that want the entry wait; null where nobody does.
  std::unique_ptr<KeyLock> turn;
};

/// A cache of compiled programs that many processes share. Whatever goes wrong with its files (a full disk, a damaged
/// entry, a folder that can't be trusted), the user gets one warning, a counter counts, and things are made as if the
/// cache were empty. For one thread.
class Store {
public:
  /// Writes the file `path` and says about it what the entry is to tell. Throws what it likes, and CannotWrite.
  using Maker = std::function<std::string(const std::string &path)>;

  explicit Store(Settings settings, FileSystem &system = FileSystem::system());
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;
  /// Makes room, if anything was kept.
  ~Store();

  /// The entry, made if it is not there. Of all processes that want it at the same time, one makes it and the others
  /// wait.
  Entry obtain(const Request &request, const Maker &make);

  /// The same where nothing is to be kept: in a file without a name in the temporary folder, or in memory where none
  /// can be written there.
  static Entry makeUnkept(const Maker &make, FileSystem &system = FileSystem::system());

  /// The same for who makes the entry by itself, and keeps it: waits while another process makes it. Throws nothing.
  Claim claim(Kind kind, const Ingredients &ingredients);

  /// For what is small and quickly made: nobody waits for anybody.
  std::optional<std::string> find(Kind kind, const Ingredients &ingredients);
  void keep(Kind kind, const Ingredients &ingredients, std::string_view payload, const std::string &about);

  /// Null if the cache is off or can't be used.
  const Folder *folder() const { return opened.get(); }
  const Settings &settings() const { return chosen; }
  /// How much of the patience with dead machines is spent, for a cache that is used within a maker.
  std::chrono::milliseconds patienceSpent() const { return spent; }

  /// Of this process: hits, misses, code_hits, code_misses, program_hits, program_misses, waits, kept, evicted,
  /// rejected (damaged entries) and failures (of file operations).
  const std::map<std::string, uint64_t> &counters() const { return counts; }
  /// Of all processes, as far as they could write it down.
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
  bool mayExceed = false; ///< something was kept, and nothing evicted since
  bool hasWarned = false;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_STORE_H
