#include "runtime/platform/Pages.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

using namespace freestone::runtime;

static void useHugePages(void *memory, size_t bytes) {
  constexpr size_t hugePage = size_t(2) << 20;
  if (bytes >= 2 * hugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
}

void *platform::allocatePages(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  useHugePages(memory, bytes);
  return memory;
}

void *platform::reservePages(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

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
