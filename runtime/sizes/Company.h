#ifndef FREESTONE_RUNTIME_SIZES_COMPANY_H
#define FREESTONE_RUNTIME_SIZES_COMPANY_H

#include "runtime/artifact/Descriptor.h"
#include "runtime/sizes/Plane.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace freestone::runtime {

/// Deals the tiles of phases that wait for none of each other. What alone would be split over all workers need not be
/// where others beside it keep these busy: every part fetches what other workers have made, and packs operands anew. A
/// short deal stays whole, on that worker of those which are free about as early that has most of its data in its
/// cache. Balance decides first, so that nothing is late for it by more than half a microsecond. Allocates nothing once
/// it is made.
class Company {
public:
  /// Off: each deal is dealt as if it were alone, wherever its data are.
  Company(const Entry &entry, size_t workers, bool isOn);

  /// Splitting shorter work over workers costs more than it gains.
  static constexpr double grain = 250;
  /// The longest that parts need be, of deals that are split. Longer work is dealt to more workers than balance asks
  /// for, since times are estimates.
  static constexpr double longestPart = 5000;
  /// Workers that are free within so many nanoseconds are so about as early.
  static constexpr double negligible = 500;

  /// Nothing is in caches, and then what the phases before `first` have touched.
  void forget(size_t first);
  /// Workers are busy as long as on this plane.
  void begin(const Plane &plane);
  /// Adds tiles that are dealt.
  void addDealt(double time, std::span<const int64_t> firsts) { load.layAgain(time, firsts); }
  void addEven(int64_t tiles, double time, std::span<int64_t> firsts) { load.layEvenly(tiles, time, firsts); }
  /// Adds a space of a phase, of `time` in all; a deal, whose spaces take `timeOfDeal` in all phases, is dealt once.
  void add(size_t phase, const Space &space, int64_t tiles, double time, double timeOfDeal);
  /// Deals what was added; `firsts` are those of all deals.
  void deal(std::span<const int64_t> sizes, std::span<int64_t> firsts);
  /// What the phases touch is now in the caches of their workers.
  void touch(size_t first, size_t end);

  /// Deals that were kept whole though alone they would have been split; and those that one worker has, of these and of
  /// others, which had most of their data.
  uint64_t keptWhole() const { return whole; }
  uint64_t keptNear() const { return near; }

private:
  struct Item {
    int64_t deal = 0;
    size_t phase = 0;
    int64_t tiles = 0;
    double time = 0, timeOfDeal = 0;
  };
  void measureNearness(std::span<const int64_t> sizes, std::span<const int64_t> firsts, const Item &item);
  bool layWhole(const Item &item, double latest, std::span<int64_t> firsts);
  std::span<int64_t> firstsOf(int64_t deal, std::span<int64_t> firsts) const {
    return firsts.subspan(deal * (load.workers() + 1), load.workers() + 1);
  }

  const Entry &entry;
  bool isOn;
  Plane load;
  std::vector<Item> items;
  std::vector<int64_t> itemOf;    ///< of each deal: the number of its item; -1: none
  std::vector<int64_t> touchedIn; ///< of each buffer: the last phase that has touched it; -1: none
  std::vector<double> bytesNear;  ///< of each worker: what it has of an item's data
  double work = 0;                ///< of all items
  uint64_t whole = 0, near = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_COMPANY_H
