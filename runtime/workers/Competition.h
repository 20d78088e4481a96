#ifndef FREESTONE_RUNTIME_WORKERS_COMPETITION_H
#define FREESTONE_RUNTIME_WORKERS_COMPETITION_H

#include <cstdint>

namespace freestone::runtime {

/// Whether other threads compete with workers for their CPUs, by how often these lost them in the last runs. A thread
/// that shares its CPU loses it every few milliseconds; on a quiet machine workers lose theirs a few times a second.
class Competition {
public:
  /// With `isAssumed` the machine counts as busy forever.
  explicit Competition(bool isAssumed) : isAssumed(isAssumed) {}

  bool isBusy() const { return isAssumed || quietSpans < spansUntilQuiet; }
  /// After a run of so many nanoseconds, in which workers lost their CPUs so often.
  void observe(int64_t nanoseconds, uint64_t preemptions);

private:
  static constexpr int64_t span = 20'000'000; ///< nanoseconds in runs, at least, by which it judges
  static constexpr uint64_t fewest = 2;       ///< of a span as long as this, on a busy machine
  static constexpr int spansUntilQuiet = 5;

  bool isAssumed;
  int64_t passed = 0;               ///< since the span began
  uint64_t lost = 0;                ///< since then
  int quietSpans = spansUntilQuiet; ///< since the last busy one
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_COMPETITION_H
