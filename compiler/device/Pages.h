#ifndef FREESTONE_COMPILER_DEVICE_PAGES_H
#define FREESTONE_COMPILER_DEVICE_PAGES_H

#include <cstdlib>
#include <cstring>
#include <memory>

namespace freestone {

inline constexpr size_t pageBytes = 4096;

struct FreePages {
  void operator()(char *memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<char, FreePages>;

/// Whole pages, all of which are present; null if the system refuses them. `bytes` is a multiple of their size.
inline Pages allocatePages(size_t bytes) {
  Pages pages(static_cast<char *>(std::aligned_alloc(pageBytes, bytes)));
  if (pages)
    std::memset(pages.get(), 1, bytes);
  return pages;
}

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_PAGES_H
