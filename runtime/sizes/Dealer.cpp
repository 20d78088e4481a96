#include "runtime/sizes/Dealer.h"

#include "runtime/sizes/ClaimGrain.h"
#include <algorithm>

using namespace freestone::runtime;

Dealer::Dealer(const Entry &entry, size_t workers, Dealing dealing)
    : entry(entry), plane(workers), inCompany(dealing.inCompany && workers > 1), company(entry, workers, inCompany),
      times(entry.dealCount), areEven(entry.dealCount, !dealing.byTimes), areDealt(entry.dealCount),
      doneAt(entry.phases.size()), passedAt(entry.phases.size()) {
  for (const Phase &phase : entry.phases)
    for (const Space &space : phase.spaces)
      if (space.dealing == Space::Dealing::Evenly)
        areEven[space.deal] = true;
}

Deals Dealer::makeRoom() const {
  return {std::vector<int64_t>(entry.dealCount * (plane.workers() + 1)),
          std::vector<char>(entry.phases.size() * plane.workers()), std::vector<int64_t>(entry.dealCount), 0};
}

/// Forgets the deals of the phases from `first` on.
void Dealer::begin(std::span<const int64_t> sizes, size_t first) {
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
  company.forget(first);
}

/// When all is done that the phase comes after.
double Dealer::getBegin(const Phase &phase) const {
  double begin = 0;
  for (int64_t before : phase.awaits)
    begin = std::max(begin, doneAt[before]);
  if (phase.awaitsAll >= 0)
    begin = std::max(begin, passedAt[phase.awaitsAll]);
  // Workers that wait for few are about as late as all: what each of them waits for follows from the deal.
  for (const Window &window : phase.windows)
    if (window.phase >= 0)
      begin = std::max(begin, doneAt[window.phase]);
  return begin;
}

void Dealer::await(const Phase &phase) {
  if (phase.begin == Phase::Begin::Together)
    plane.meet();
  plane.await(getBegin(phase));
}

/// The end of the phases from `number` on that wait for none of each other, nor for anything that is not done about
/// when the first of them begins.
size_t Dealer::findEnd(size_t number) const {
  auto comesAfter = [&](int64_t before) { return before >= static_cast<int64_t>(number); };
  auto isInCompany = [&](const Phase &phase) {
    return phase.begin == Phase::Begin::Apart && !comesAfter(phase.awaitsAll) &&
           std::ranges::none_of(phase.awaits, comesAfter) &&
           std::ranges::none_of(phase.windows, comesAfter, &Window::phase) &&
           plane.idleUntil(getBegin(phase)) <= Company::negligible * double(plane.workers());
  };
  size_t end = number + 1;
  while (inCompany && end < entry.phases.size() && isInCompany(entry.phases[end]))
    ++end;
  return end;
}

void Dealer::dealTogether(std::span<const int64_t> sizes, size_t first, size_t end, Deals &deals) {
  company.begin(plane);
  for (size_t number = first; number < end; ++number)
    for (const Space &space : entry.phases[number].spaces) {
      int64_t tiles = std::max<int64_t>(0, sizes[space.tilesSlot]);
      double all = double(sizes[space.timeSlot]), time = tiles > 0 ? all / double(tiles) : 0;
      std::span<int64_t> firsts = firstsOf(space, deals);
      if (areDealt[space.deal])
        company.addDealt(time, firsts);
      else if (areEven[space.deal] || all <= 0 || tiles == 0)
        company.addEven(tiles, time, firsts);
      else
        company.add(number, space, tiles, all, times[space.deal]);
      areDealt[space.deal] = areDealt[space.deal] || areEven[space.deal] || all <= 0 || tiles == 0;
    }
  company.deal(sizes, deals.firsts);
  company.touch(first, end);
  for (size_t number = first; number < end; ++number)
    for (const Space &space : entry.phases[number].spaces)
      areDealt[space.deal] = true;
}

void Dealer::lay(const Space &space, std::span<const int64_t> sizes, size_t number, std::span<const int64_t> firsts) {
  int64_t tiles = std::max<int64_t>(0, sizes[space.tilesSlot]);
  double time = tiles > 0 ? double(sizes[space.timeSlot]) / double(tiles) : 0;
  doneAt[number] = std::max(doneAt[number], plane.layAgain(time, firsts));
}

void Dealer::deal(std::span<const int64_t> sizes, size_t first, Deals &deals) {
  size_t workers = plane.workers();
  begin(sizes, first);
  for (size_t number = first, end = first; number < entry.phases.size(); ++number) {
    const Phase &phase = entry.phases[number];
    await(phase);
    if (number == end) {
      end = findEnd(number);
      dealTogether(sizes, number, end, deals);
    }
    for (const Space &space : phase.spaces) {
      lay(space, sizes, number, firstsOf(space, deals));
      bool isClaimed = space.dealing == Space::Dealing::Claimed;
      deals.grains[space.deal] =
          isClaimed ? tilesOfClaim(double(sizes[space.timeSlot]), sizes[space.tilesSlot], int64_t(workers)) : 0;
    }
    passedAt[number] = plane.end();
    auto isComputing = [&](size_t worker) {
      return std::ranges::any_of(phase.spaces, [&](const Space &space) {
        std::span<int64_t> firsts = firstsOf(space, deals);
        return firsts[worker] < firsts[worker + 1];
      });
    };
    bool mayClaim = deals.mayClaim(phase);
    for (size_t worker = 0; worker < workers; ++worker)
      deals.computing[number * workers + worker] = worker == 0 || mayClaim || isComputing(worker);
  }
  deals.nanoseconds = plane.end();
}

std::vector<PlannedSpan> Dealer::plan(std::span<const int64_t> sizes, Deals &deals) {
  std::vector<PlannedSpan> spans;
  begin(sizes, entry.phases.size());
  for (size_t number = 0; number < entry.phases.size(); ++number) {
    const Phase &phase = entry.phases[number];
    await(phase);
    for (const Space &space : phase.spaces) {
      std::span<int64_t> firsts = firstsOf(space, deals);
      size_t fresh = spans.size();
      for (size_t worker = 0; worker < plane.workers(); ++worker)
        if (int64_t tiles = firsts[worker + 1] - firsts[worker]; tiles > 0)
          spans.push_back({number, worker, plane.endOf(worker), 0, firsts[worker], tiles, firsts.back()});
      lay(space, sizes, number, firsts);
      for (PlannedSpan &span : std::span(spans).subspan(fresh))
        span.end = plane.endOf(span.worker);
    }
    passedAt[number] = plane.end();
  }
  return spans;
}
