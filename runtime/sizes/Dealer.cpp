#include "runtime/sizes/Dealer.h"

#include <algorithm>

using namespace freestone::runtime;

Dealer::Dealer(const Entry &entry, size_t workers, bool isEven)
    : entry(entry), plane(workers), times(entry.dealCount), areEven(entry.dealCount, isEven), areDealt(entry.dealCount),
      doneAt(entry.phases.size()),
      passedAt(entry.phases.size()) {
  for (const Phase &phase : entry.phases)
    for (const Space &space : phase.spaces)
      if (space.dealing == Space::Dealing::Evenly)
        areEven[space.deal] = true;
}

Deals Dealer::makeRoom() const {
  return {std::vector<int64_t>(entry.dealCount * (plane.workers() + 1)),
          std::vector<char>(entry.phases.size() * plane.workers()), 0};
}

void Dealer::deal(std::span<const int64_t> sizes, size_t first, Deals &deals) {
  size_t workers = plane.workers();
  auto firstsOf = [&](int64_t deal) { return std::span(deals.firsts).subspan(deal * (workers + 1), workers + 1); };
  std::ranges::fill(times, 0);
  std::fill(areDealt.begin(), areDealt.end(), false);
  for (size_t number = 0; number < entry.phases.size(); ++number)
    for (const Space &space : entry.phases[number].spaces) {
      times[space.deal] += double(sizes[space.timeSlot]);
      areDealt[space.deal] = areDealt[space.deal] || number < first;
    }
  std::ranges::fill(doneAt, 0);
  std::ranges::fill(passedAt, 0);
  plane.clear();
  for (size_t number = first; number < entry.phases.size(); ++number) {
    const Phase &phase = entry.phases[number];
    if (phase.begin == Phase::Begin::Together)
      plane.meet();
    for (int64_t before : phase.awaits)
      plane.await(doneAt[before]);
    if (phase.awaitsAll >= 0)
      plane.await(passedAt[phase.awaitsAll]);
    for (const Space &space : phase.spaces) {
      std::span<int64_t> firsts = firstsOf(space.deal);
      int64_t tiles = std::max<int64_t>(0, sizes[space.tilesSlot]);
      double time = tiles > 0 ? double(sizes[space.timeSlot]) / double(tiles) : 0;
      double done = 0;
      if (areDealt[space.deal])
        done = plane.layAgain(time, firsts);
      else if (areEven[space.deal])
        done = plane.layEvenly(tiles, time, firsts);
      else
        done = plane.lay(tiles, time, times[space.deal] > 0 ? grain * double(tiles) * time / times[space.deal] : 0,
                         firsts);
      areDealt[space.deal] = true;
      doneAt[number] = std::max(doneAt[number], done);
    }
    passedAt[number] = plane.end();
    for (size_t worker = 0; worker < workers; ++worker)
      deals.computing[number * workers + worker] =
          worker == 0 || std::ranges::any_of(phase.spaces, [&](const Space &space) {
            std::span<int64_t> firsts = firstsOf(space.deal);
            return firsts[worker] < firsts[worker + 1];
          });
  }
  deals.nanoseconds = plane.end();
}
