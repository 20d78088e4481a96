#ifndef FREESTONE_COMPILER_DEVICE_STRETCHES_H
#define FREESTONE_COMPILER_DEVICE_STRETCHES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace freestone {

/// The rates of many short stretches of the same work. The rate that a quarter of them reach counts: neighbours on the
/// machine slow down most of the others, and a clock that ran ahead hastens fewer.
class Stretches {
public:
  void add(double rate) { rates.push_back(rate); }
  size_t size() const { return rates.size(); }
  /// Nothing if there is none.
  std::optional<double> getUpperQuartile() {
    if (rates.empty())
      return std::nullopt;
    llvm::sort(rates, std::greater<>());
    return rates[rates.size() / 4];
  }

private:
  llvm::SmallVector<double> rates;
};

struct FreePages {
  void operator()(char *memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<char, FreePages>;

/// Whole pages, all of which are present; null if the system refuses them. `bytes` is a multiple of their size.
inline Pages allocatePages(size_t bytes) {
  constexpr size_t pageBytes = 4096;
  Pages pages(static_cast<char *>(std::aligned_alloc(pageBytes, bytes)));
  if (pages)
    std::memset(pages.get(), 1, bytes);
  return pages;
}

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_STRETCHES_H
