#ifndef FREESTONE_RUNTIME_SIZES_DEALER_H
#define FREESTONE_RUNTIME_SIZES_DEALER_H

#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/abi.h"
#include "runtime/sizes/Company.h"
#include <algorithm>

namespace freestone::runtime {

/// The tiles of every worker, as compiled code reads them.
struct Deals {
  std::vector<int64_t> firsts; ///< `deals` of the run context
  std::vector<char> computing; ///< [p * W + w]: whether worker w may have tiles of phase p, or is worker 0
  std::vector<int64_t> grains; ///< of each deal: the fewest tiles of a claim; 0: they are not claimed
  double nanoseconds = 0;      ///< estimated for one run, each loop counted once

  /// Whether workers may claim tiles from each other, of any phase; of this one.
  bool mayClaim() const {
    return std::ranges::any_of(grains, [](int64_t grain) { return grain > 0; });
  }
  bool mayClaim(const Phase &phase) const {
    return std::ranges::any_of(phase.spaces, [&](const Space &space) { return grains[space.deal] > 0; });
  }
};

/// A worker's tiles of a phase as they are planned, in nanoseconds since the beginning of a run.
struct PlannedSpan {
  size_t phase = 0, worker = 0;
  double begin = 0, end = 0;
  int64_t firstTile = 0, tiles = 0, ofTiles = 0;
};

/// How tiles are dealt: all evenly, or by times; and whether phases that wait for none of each other are dealt at once,
/// rather than each as if it were alone.
struct Dealing {
  bool byTimes = true, inCompany = true;
};

/// Deals the tiles of an entry's phases to W workers by their estimated times: to those that would be idle first.
/// Independent phases thus run side by side, and what is uneven in one is made up for by the next. Any deal is correct;
/// equal sizes and workers give equal deals. Not thread-safe; allocates nothing once it is made.
class Dealer {
public:
  Dealer(const Entry &entry, size_t workers, Dealing dealing = {});

  size_t workers() const { return plane.workers(); }
  /// Makes room for the deals of all phases.
  Deals makeRoom() const;
  /// Deals the tiles of the phases from `first` on, all workers beginning there at once; earlier deals remain.
  void deal(std::span<const int64_t> sizes, size_t first, Deals &deals);
  /// When each worker would compute what, with deals of these sizes; each loop once.
  std::vector<PlannedSpan> plan(std::span<const int64_t> sizes, Deals &deals);
  const Company &getCompany() const { return company; }

private:
  void begin(std::span<const int64_t> sizes, size_t first);
  double getBegin(const Phase &phase) const;
  void await(const Phase &phase);
  size_t findEnd(size_t number) const;
  void dealTogether(std::span<const int64_t> sizes, size_t first, size_t end, Deals &deals);
  void lay(const Space &space, std::span<const int64_t> sizes, size_t number, std::span<const int64_t> firsts);
  std::span<int64_t> firstsOf(const Space &space, Deals &deals) const {
    return std::span(deals.firsts).subspan(space.deal * (plane.workers() + 1), plane.workers() + 1);
  }

  const Entry &entry;
  Plane plane;
  bool inCompany;
  Company company;
  std::vector<double> times; ///< of each deal: of all its spaces
  std::vector<bool> areEven; ///< deals that give worker 0 the first tiles
  std::vector<bool> areDealt;
  std::vector<double> doneAt;   ///< of each phase: when its tiles are done
  std::vector<double> passedAt; ///< of each phase: when all workers have finished it
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_DEALER_H
