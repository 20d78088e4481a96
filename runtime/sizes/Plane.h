#ifndef FREESTONE_RUNTIME_SIZES_PLANE_H
#define FREESTONE_RUNTIME_SIZES_PLANE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace freestone::runtime {

/// The plane of workers × time on which tiles are laid (Ma et al., "Rammer", OSDI 2020), as far as it is filled: each
/// worker is busy up to some time. Times are estimates, in nanoseconds.
class Plane {
public:
  explicit Plane(size_t workers) : clocks(workers), order(workers), counts(workers) {}

  size_t workers() const { return clocks.size(); }
  void clear() { clocks.assign(clocks.size(), 0); }
  /// All workers wait until all have arrived here.
  void meet();
  /// All workers wait until `time`. Returns the sum of the times that they are idle.
  double await(double time);
  double idleUntil(double time) const;
  /// When a worker is done, the first of them, and the last.
  double endOf(size_t worker) const { return clocks[worker]; }
  double begin() const;
  double end() const;
  /// How many of at most so many workers, the first that are free, share work if all of these are to be done early; and
  /// when they are done.
  std::pair<size_t, double> fill(double work, size_t most);

  /// Lays `tiles` tiles of `time` each where they are done first: each worker gets neighbouring ones, in the order of
  /// workers, worker w those from `firsts[w]` up to `firsts[w + 1]`. No worker gets a part shorter than `grain`, unless
  /// there is one part. Returns when the last tile is done.
  double lay(int64_t tiles, double time, double grain, std::span<int64_t> firsts);
  /// All on one worker.
  double layOn(size_t worker, int64_t tiles, double time, std::span<int64_t> firsts);
  /// As evenly as numbers of tiles allow: worker 0 has the first ones.
  double layEvenly(int64_t tiles, double time, std::span<int64_t> firsts);
  /// Lays tiles as they were dealt before.
  double layAgain(double time, std::span<const int64_t> firsts);

private:
  std::vector<double> clocks;
  std::vector<size_t> order;   ///< workers, the first to be free first
  std::vector<int64_t> counts; ///< tiles of each worker
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_PLANE_H
