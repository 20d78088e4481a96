#ifndef FREESTONE_RUNTIME_WORKERS_SPINPOLICY_H
#define FREESTONE_RUNTIME_WORKERS_SPINPOLICY_H

#include "runtime/machine/Instructions.h"
#include <chrono>

namespace freestone::runtime {

/// How long one thread spins before it sleeps.
///
/// Waking a sleeper takes 10 to 60 µs, the longer the deeper its CPU idles, so spinning for a few times as long pays
/// while CPUs are free. On a busy machine a spinning thread delays the one it waits for, and long spins end in vain.
/// Each long spin in vain costs credit, a successful one restores it. Without credit the thread spins shortly, with an
/// occasional long spin: two workers that sleep in turn would otherwise never leave that state.
class SpinPolicy {
public:
  enum class Spin {
    Never,     ///< more threads than CPUs
    Shortly,   ///< 200 pauses
    Adaptively ///< for as long as it pays
  };
  explicit SpinPolicy(Spin mode) : mode(mode) {}

  /// Returns whether `isReady` became true in time; it must use sequentially consistent loads.
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
  unsigned vain = 0; ///< short spins since the credit was used up
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_SPINPOLICY_H
