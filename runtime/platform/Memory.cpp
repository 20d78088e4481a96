#include "runtime/platform/Memory.h"

#include "runtime/platform/Pages.h"
#include <utility>

using namespace freestone::runtime;

namespace {
constexpr int64_t pageBytes = 4096;
} // namespace

std::shared_ptr<Memory> Memory::create(Callbacks callbacks, uint64_t limit) {
  return std::shared_ptr<Memory>(new Memory(callbacks, limit));
}

Result<Block> Memory::allocate(int64_t bytes, const std::string &purpose) {
  auto refuse = [&](const std::string &why) {
    return Status(Code::OutOfMemory, purpose + " needs " + std::to_string(bytes) + " bytes" + why);
  };
  if (bytes > INT64_MAX - pageBytes)
    return refuse("; there is no such amount of memory");
  bytes = bytes < 1 ? pageBytes : (bytes + pageBytes - 1) / pageBytes * pageBytes;
  uint64_t before = held.fetch_add(bytes, std::memory_order_relaxed);
  if (limit && (uint64_t(bytes) > limit || before > limit - bytes)) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return refuse("; " + std::to_string(before) + " are in use, and max_memory is " + std::to_string(limit));
  }
  void *address =
      callbacks.allocate ? callbacks.allocate(callbacks.user, bytes, pageBytes) : platform::allocatePages(bytes);
  if (!address) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return refuse("; the system has not enough memory");
  }
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  Block block;
  block.memory = shared_from_this();
  block.address = static_cast<char *>(address);
  block.bytes = bytes;
  return block;
}

Block &Block::operator=(Block &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

Block::~Block() {
  if (!address)
    return;
  if (memory->callbacks.deallocate)
    memory->callbacks.deallocate(memory->callbacks.user, address, bytes, pageBytes);
  else
    platform::freePages(address, bytes);
  memory->held.fetch_sub(bytes, std::memory_order_relaxed);
}
