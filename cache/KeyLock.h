#ifndef FREESTONE_CACHE_KEYLOCK_H
#define FREESTONE_CACHE_KEYLOCK_H

#include "cache/Folder.h"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace freestone::cache {

/// Lets one process at a time make an entry. The lock is the kernel's (flock), which releases it when its process dies.
/// The holder touches the lock file regularly: a lock without signs of life for `timeout`, such as that of a dead
/// machine on a network folder, is ignored, and so is a folder without locks. Several processes may then make the same
/// entry, which costs only time. Nothing throws.
class KeyLock {
public:
  /// Waits for the lock; calls `onWait` if it has to. `spent` is the part of `timeout` already spent on an enclosing
  /// lock.
  KeyLock(const Folder &folder, const std::string &key, std::chrono::milliseconds timeout,
          const std::function<void()> &onWait = nullptr, std::chrono::milliseconds spent = {});
  KeyLock(const KeyLock &) = delete;
  KeyLock &operator=(const KeyLock &) = delete;
  ~KeyLock();

  bool isHeld() const { return static_cast<bool>(file); }
  bool hasWaited() const { return waited; }
  /// The time without signs of life of the holder at the end of the wait.
  std::chrono::milliseconds silence() const { return silent; }

private:
  void acquire(const std::function<void()> &onWait, std::chrono::milliseconds longest);
  bool isStillThere(const File &candidate) const;
  void showLife();

  const Folder &folder;
  std::string name;
  std::chrono::milliseconds timeout;
  File file; ///< locked, or empty
  bool waited = false;
  std::chrono::milliseconds silent{};

  std::mutex mutex;
  std::condition_variable released;
  bool isReleased = false;
  std::thread pulse;
};

} // namespace freestone::cache

#endif // FREESTONE_CACHE_KEYLOCK_H
