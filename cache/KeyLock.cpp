#include "cache/KeyLock.h"

#include <fcntl.h>
#include <sys/file.h>

using namespace freestone::cache;
using Clock = std::chrono::steady_clock;

KeyLock::KeyLock(const Folder &folder, const std::string &key, std::chrono::milliseconds timeout,
                 const std::function<void()> &onWait, std::chrono::milliseconds spent)
    : folder(folder), name("lock/" + key), timeout(timeout) {
  try {
    acquire(onWait, timeout - spent);
    if (file)
      pulse = std::thread([this] { showLife(); });
  } catch (const FileError &) {
    file = File();
  } catch (const std::system_error &) {
    // The lock is held without signs of life; others may time out and make the entry as well.
  }
}

void KeyLock::acquire(const std::function<void()> &onWait, std::chrono::milliseconds longest) {
  constexpr auto pause = std::chrono::milliseconds(5);
  FileIdentity sign;
  Clock::time_point lastSign = Clock::now();
  while (true) {
    File candidate = folder.open(name, O_RDWR | O_CREAT);
    if (candidate.lock(LOCK_EX | LOCK_NB)) {
      // The previous holder has removed the file; retry with its successor.
      if (!isStillThere(candidate))
        continue;
      file = std::move(candidate);
      return;
    }
    if (!std::exchange(waited, true) && onWait)
      onWait();
    // Signs of life are timed by this machine's clock: the other machine's may be wrong.
    if (FileIdentity now = FileIdentity::of(candidate.status()); now != sign) {
      sign = now;
      lastSign = Clock::now();
    }
    silent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - lastSign);
    if (silent >= longest)
      return;
    std::this_thread::sleep_for(pause);
  }
}

bool KeyLock::isStillThere(const File &candidate) const {
  struct stat there;
  return folder.status(name, there) && there.st_ino == candidate.status().st_ino;
}

void KeyLock::showLife() {
  std::unique_lock lock(mutex);
  while (!released.wait_for(lock, timeout / 5, [&] { return isReleased; })) {
    try {
      folder.touch(name);
    } catch (const FileError &) {
      // Others may time out and make the entry as well.
    }
  }
}

KeyLock::~KeyLock() {
  if (pulse.joinable()) {
    {
      std::lock_guard lock(mutex);
      isReleased = true;
    }
    released.notify_one();
    pulse.join();
  }
  if (!file)
    return;
  try {
    // Removed while still locked, so that no successor's file is removed.
    folder.remove(name);
  } catch (const FileError &) {
    // An empty file remains.
  }
}
