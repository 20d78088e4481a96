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

  /// A block without memory that can grow where it is: as many slices as asked for, `stride` bytes apart, whole pages.
  /// Its memory is the system's, whatever the callbacks. Errors: OutOfMemory.
  Result<Block> reserve(int64_t slices, int64_t stride, const std::string &purpose);

  uint64_t allocations() const { return allocationCount.load(std::memory_order_relaxed); }
  /// How often a reserved block has grown.
  uint64_t chunks() const { return chunkCount.load(std::memory_order_relaxed); }

private:
  friend class Block;
  Memory(Callbacks callbacks, uint64_t limit) : callbacks(callbacks), limit(limit) {}
  /// The sentence that there are no such bytes, or nothing if they are held from now on.
  Status hold(int64_t bytes, const std::string &purpose);

  Callbacks callbacks;
  uint64_t limit;
  std::atomic<uint64_t> held = 0;
  std::atomic<uint64_t> allocationCount = 0, chunkCount = 0;
};

/// An owned allocation of a Memory.
class Block {
public:
  Block() = default;
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept;
  ~Block();

  char *data() const { return address; }
  /// Bytes of memory; of each slice, where it was reserved.
  int64_t size() const { return bytes; }
  /// Lets each slice of a reserved block have at least this many bytes. It grows to twice its size or more, by a chunk
  /// of new memory behind what is there. Not while another thread does so. Errors: OutOfMemory.
  Status grow(int64_t least, const std::string &purpose);

private:
  friend class Memory;
  std::shared_ptr<Memory> memory;
  char *address = nullptr;
  int64_t bytes = 0, slices = 0, stride = 0; ///< no slices: it was not reserved
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_PLATFORM_MEMORY_H
