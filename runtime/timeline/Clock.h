#ifndef FREESTONE_RUNTIME_TIMELINE_CLOCK_H
#define FREESTONE_RUNTIME_TIMELINE_CLOCK_H

#include <chrono>
#include <cstdint>

namespace freestone::runtime {

/// Nanoseconds of the monotonic clock of all traces and time counters.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TIMELINE_CLOCK_H
