#ifndef FREESTONE_RUNTIME_SPINPOLICY_H
#define FREESTONE_RUNTIME_SPINPOLICY_H

#include "runtime/machine/Instructions.h"
#include <chrono>

namespace freestone::runtime {

/// How long one thread spins before it sleeps.
///
/// Waking a sleeper takes 10 to 60 microseconds, the longer the deeper its CPU idles, so spinning for some times that
/// long pays while the CPUs are free. On a busy machine whoever spins keeps the one it waits for from running; there
/// long spins end in vain. Each that does costs credit, one that succeeds restores it. Without credit the thread spins
/// shortly, and tries a long spin now and then: two workers that sleep in turn would never leave that state otherwise.
class SpinPolicy {
public:
  enum class Spin {
    Never,     ///< there are more threads than CPUs: it never pays
    Shortly,   ///< 200 pauses
    Adaptively ///< for as long as it pays
  };
  explicit SpinPolicy(Spin mode) : mode(mode) {}

  /// Returns whether `isReady` held in time; it must load sequentially consistently.
  template <typename Ready> bool spin(Ready isReady) {
    if (mode == Spin::Never)
      return isReady();
    if (spinPauses(shortPauses, isReady))
      return true;
    if (mode == Spin::Shortly)
      return false;
    if (credit == 0 && ++vain % interval != 0)
      return false;
    Clock::time_point end = Clock::now() + longSpin;
    do {
      if (!spinPauses(pausesPerLook, isReady))
        continue;
      credit = fullCredit;
      return true;
    } while (Clock::now() < end);
    credit = credit > 0 ? credit - 1 : 0;
    return isReady();
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int shortPauses = 200, pausesPerLook = 16, fullCredit = 8;
  static constexpr std::chrono::microseconds longSpin{400};
  static constexpr unsigned interval = 32;

  template <typename Ready> static bool spinPauses(int pauses, Ready isReady) {
    for (int i = 0; i < pauses; ++i) {
      if (isReady())
        return true;
      pauseInstruction();
    }
    return false;
  }

  Spin mode;
  int credit = fullCredit;
  unsigned vain = 0; ///< short spins without credit
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SPINPOLICY_H
