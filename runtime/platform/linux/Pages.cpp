#include "runtime/platform/Pages.h"

#include <sys/mman.h>

using namespace freestone::runtime;

void *platform::allocatePages(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  constexpr size_t hugePage = size_t(2) << 20;
  if (bytes >= 2 * hugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void platform::freePages(void *memory, size_t bytes) { munmap(memory, bytes); }
