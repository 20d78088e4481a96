#ifndef FREESTONE_RUNTIME_CLOCK_H
#define FREESTONE_RUNTIME_CLOCK_H

#include <chrono>
#include <cstdint>

namespace freestone::runtime {

/// Nanoseconds of the clock that never goes back; all traces and counters of times use it.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_CLOCK_H
