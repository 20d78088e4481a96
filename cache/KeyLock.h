#ifndef FREESTONE_CACHE_KEYLOCK_H
#define FREESTONE_CACHE_KEYLOCK_H

#include "cache/Folder.h"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace freestone::cache {

/// Lets one process at a time make an entry. The lock is the kernel's (flock), which frees it the moment its process
/// dies. Its file is touched while the process lives: a lock that shows no life for `patience`, such as one of a dead
/// machine on a network's folder, is ignored, and so is a folder that knows no locks. Then several make the same entry,
/// which costs time and harms nothing. Nothing throws.
class KeyLock {
public:
  /// Waits for the lock; `onWait` is told when it has to. `spent` of the patience went on a lock that this one is taken
  /// within.
  KeyLock(const Folder &folder, const std::string &key, std::chrono::milliseconds patience,
          const std::function<void()> &onWait = nullptr, std::chrono::milliseconds spent = {});
  KeyLock(const KeyLock &) = delete;
  KeyLock &operator=(const KeyLock &) = delete;
  ~KeyLock();

  bool isHeld() const { return static_cast<bool>(file); }
  bool hasWaited() const { return waited; }
  /// For how long its holder had shown no life when the wait ended.
  std::chrono::milliseconds silence() const { return silent; }

private:
  void acquire(const std::function<void()> &onWait, std::chrono::milliseconds longest);
  bool isStillThere(const File &candidate) const;
  void showLife();

  const Folder &folder;
  std::string name;
  std::chrono::milliseconds patience;
  File file; ///< locked, or none
  bool waited = false;
  std::chrono::milliseconds silent{};

  std::mutex mutex;
  std::condition_variable released;
  bool isReleased = false;
  std::thread pulse;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_KEYLOCK_H
