#include "runtime/platform/Pages.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

using namespace freestone::runtime;

constexpr size_t hugePage = size_t(2) << 20;

static void useHugePages(void *memory, size_t bytes) {
  if (bytes >= 2 * hugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
}

/// Maps memory that begins where a huge page may, if there are some, so that its first bytes are in one too; null on
/// failure.
static void *mapAligned(size_t bytes, int protection, int flags) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX - hugePage)
    return nullptr;
  bytes = (bytes + page - 1) / page * page;
  size_t room = bytes >= 2 * hugePage ? hugePage - page : 0;
  void *mapped = mmap(nullptr, bytes + room, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  size_t before = room > 0 ? -reinterpret_cast<uintptr_t>(mapped) % hugePage : 0;
  char *begin = static_cast<char *>(mapped) + before;
  if (before > 0)
    munmap(mapped, before);
  if (room > before)
    munmap(begin + bytes, room - before);
  return begin;
}

void *platform::allocatePages(size_t bytes) {
  void *memory = mapAligned(bytes, PROT_READ | PROT_WRITE, /*flags=*/0);
  if (memory)
    useHugePages(memory, bytes);
  return memory;
}

void *platform::reservePages(size_t bytes) { return mapAligned(bytes, PROT_NONE, MAP_NORESERVE); }

bool platform::commitPages(void *address, size_t bytes) {
  if (mprotect(address, bytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  useHugePages(address, bytes);
  return true;
}

void platform::releaseMapped(const void *address, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto begin = (reinterpret_cast<uintptr_t>(address) + page - 1) / page * page;
  auto end = (reinterpret_cast<uintptr_t>(address) + bytes) / page * page;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

void platform::freePages(void *memory, size_t bytes) { munmap(memory, bytes); }
