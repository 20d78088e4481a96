#ifndef FREESTONE_RUNTIME_PLATFORM_MEMORY_H
#define FREESTONE_RUNTIME_PLATFORM_MEMORY_H

#include "runtime/Status.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace freestone::runtime {

class Block;

/// The allocator of an instance's blocks: the application's callbacks or pages of the system, within a limit.
/// Thread-safe; blocks keep it alive.
class Memory : public std::enable_shared_from_this<Memory> {
public:
  struct Callbacks {
    void *user = nullptr;
    void *(*allocate)(void *user, size_t bytes, size_t alignment) = nullptr;
    void (*deallocate)(void *user, void *memory, size_t bytes, size_t alignment) = nullptr;
  };

  /// `limit` in bytes; 0: none.
  static std::shared_ptr<Memory> create(Callbacks callbacks, uint64_t limit);

  /// Allocates a page-aligned block of at least one byte. `purpose` completes the error's sentence. Errors:
  /// OutOfMemory.
  Result<Block> allocate(int64_t bytes, const std::string &purpose);

  uint64_t allocations() const { return allocationCount.load(std::memory_order_relaxed); }

private:
  friend class Block;
  Memory(Callbacks callbacks, uint64_t limit) : callbacks(callbacks), limit(limit) {}

  Callbacks callbacks;
  uint64_t limit;
  std::atomic<uint64_t> held = 0;
  std::atomic<uint64_t> allocationCount = 0;
};

/// An owned allocation of a Memory.
class Block {
public:
  Block() = default;
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept;
  ~Block();

  char *data() const { return address; }
  int64_t size() const { return bytes; }

private:
  friend class Memory;
  std::shared_ptr<Memory> memory;
  char *address = nullptr;
  int64_t bytes = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_PLATFORM_MEMORY_H
