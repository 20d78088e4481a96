#ifndef FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H
#define FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H

#include <cstddef>
#include <functional>
#include <string>

namespace freestone::test {

/// The end of a piece of memory that lies exactly at a guard.
enum class Flush { begin, end };

/// Memory between guards: a gigabyte on both sides that nobody may touch. A piece without bytes lies inside a guard.
class GuardedMemory {
public:
  GuardedMemory() = default;
  /// Zeros. With Flush::end no more than `alignment - 1` bytes are between the piece and the guard behind it.
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

/// Runs `body` and says which signal ended it: "" where none did. Memory that it held is lost then.
std::string catchFault(const std::function<void()> &body);

/// While it lives, the process ends after so many seconds with this text on stderr.
class Watchdog {
public:
  Watchdog(unsigned seconds, const std::string &text);
  ~Watchdog();
};

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_GUARDEDMEMORY_H
