#include "runtime/platform/Memory.h"

#include "runtime/platform/Pages.h"
#include <algorithm>
#include <utility>

using namespace freestone::runtime;

namespace {

constexpr int64_t pageBytes = 4096, smallestChunk = 64 << 10;

Status refuse(const std::string &purpose, int64_t bytes, const std::string &why) {
  return {Code::OutOfMemory, purpose + " needs " + std::to_string(bytes) + " bytes; " + why};
}

} // namespace

std::shared_ptr<Memory> Memory::create(Callbacks callbacks, uint64_t limit) {
  return std::shared_ptr<Memory>(new Memory(callbacks, limit));
}

Status Memory::hold(int64_t bytes, const std::string &purpose) {
  uint64_t before = held.fetch_add(bytes, std::memory_order_relaxed);
  if (!limit || (uint64_t(bytes) <= limit && before <= limit - bytes))
    return {};
  held.fetch_sub(bytes, std::memory_order_relaxed);
  return refuse(purpose, bytes, std::to_string(before) + " are in use, and max_memory is " + std::to_string(limit));
}

Result<Block> Memory::allocate(int64_t bytes, const std::string &purpose) {
  if (bytes > INT64_MAX - pageBytes)
    return refuse(purpose, bytes, "there is no such amount of memory");
  bytes = bytes < 1 ? pageBytes : (bytes + pageBytes - 1) / pageBytes * pageBytes;
  if (Status status = hold(bytes, purpose); !status.ok())
    return status;
  void *address =
      callbacks.allocate ? callbacks.allocate(callbacks.user, bytes, pageBytes) : platform::allocatePages(bytes);
  if (!address) {
    held.fetch_sub(bytes, std::memory_order_relaxed);
    return refuse(purpose, bytes, "the system has not enough memory");
  }
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  Block block;
  block.memory = shared_from_this();
  block.address = static_cast<char *>(address);
  block.bytes = bytes;
  return block;
}

Result<Block> Memory::reserve(int64_t slices, int64_t stride, const std::string &purpose) {
  int64_t bytes = 0;
  void *address = __builtin_mul_overflow(slices, stride, &bytes) ? nullptr : platform::reservePages(bytes);
  if (!address)
    return Status(Code::OutOfMemory, purpose + " needs addresses of " + std::to_string(slices) + " times " +
                                         std::to_string(stride) + " bytes; the system does not give them");
  Block block;
  block.memory = shared_from_this();
  block.address = static_cast<char *>(address);
  block.slices = slices;
  block.stride = stride;
  return block;
}

Status Block::grow(int64_t least, const std::string &purpose) {
  if (least <= bytes)
    return {};
  if (least > stride)
    return refuse(purpose, least, "it can't grow beyond " + std::to_string(stride));
  int64_t grown = std::min(std::max(least, 2 * bytes), stride);
  grown = std::min((grown + smallestChunk - 1) / smallestChunk * smallestChunk, stride);
  int64_t added = (grown - bytes) * slices;
  if (Status status = memory->hold(added, purpose); !status.ok())
    return status;
  for (int64_t slice = 0; slice < slices; ++slice)
    if (!platform::commitPages(address + slice * stride + bytes, grown - bytes)) {
      memory->held.fetch_sub(added, std::memory_order_relaxed);
      return refuse(purpose, grown, "the system has not enough memory");
    }
  memory->chunkCount.fetch_add(1, std::memory_order_relaxed);
  bytes = grown;
  return {};
}

Block &Block::operator=(Block &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  std::swap(slices, other.slices);
  std::swap(stride, other.stride);
  return *this;
}

Block::~Block() {
  if (!address)
    return;
  if (slices > 0)
    platform::freePages(address, slices * stride);
  else if (memory->callbacks.deallocate)
    memory->callbacks.deallocate(memory->callbacks.user, address, bytes, pageBytes);
  else
    platform::freePages(address, bytes);
  memory->held.fetch_sub(bytes * std::max<int64_t>(slices, 1), std::memory_order_relaxed);
}
