#ifndef FREESTONE_COMPILER_DEVICE_STRETCHES_H
#define FREESTONE_COMPILER_DEVICE_STRETCHES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace freestone {

/// The rates of many short stretches of the same work. The rate that a quarter of them reach counts: neighbours on the
/// machine slow down most of the others, and a clock that ran ahead hastens fewer.
class Stretches {
public:
  void add(double rate) { rates.push_back(rate); }
  size_t size() const { return rates.size(); }
  /// Nothing if there is none; so below.
  std::optional<double> getUpperQuartile() {
    if (rates.empty())
      return std::nullopt;
    llvm::sort(rates, std::greater<>());
    return rates[rates.size() / 4];
  }
  /// For times of the wall, which neighbours only prolong.
  std::optional<double> getFastest() const {
    return rates.empty() ? std::nullopt : std::optional(*llvm::max_element(rates));
  }

private:
  llvm::SmallVector<double> rates;
};

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_STRETCHES_H
