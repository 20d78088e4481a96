#ifndef FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H
#define FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H

#include <cstddef>
#include <functional>
#include <string>

namespace freestone::test {

/// The end of a block that touches a guard.
enum class Flush { begin, end };

/// Memory between guards: an inaccessible gigabyte on both sides. An empty block lies within a guard.
class GuardedMemory {
public:
  GuardedMemory() = default;
  /// Zeroed. With Flush::end at most `alignment - 1` bytes are between the block and the guard after it.
  GuardedMemory(size_t bytes, size_t alignment, Flush flush);
  GuardedMemory(GuardedMemory &&other) noexcept;
  GuardedMemory &operator=(GuardedMemory &&other) noexcept;
  ~GuardedMemory();

  void *get() const { return data; }

private:
  char *mapping = nullptr;
  size_t mappedBytes = 0;
  void *data = nullptr;
};

/// Runs `body` and returns the signal that ended it, or "". Memory that it held is then leaked.
std::string catchFault(const std::function<void()> &body);

/// During its lifetime, ends the process after so many seconds, with this text on stderr.
class Watchdog {
public:
  Watchdog(unsigned seconds, const std::string &text);
  ~Watchdog();
};

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H
