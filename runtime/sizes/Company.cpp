#include "runtime/sizes/Company.h"

#include <algorithm>
#include <optional>
#include <tuple>

using namespace freestone::runtime;

Company::Company(const Entry &entry, size_t workers, bool isOn)
    : entry(entry), isOn(isOn), load(workers), itemOf(entry.dealCount, -1), touchedIn(entry.buffers.size(), -1),
      bytesNear(workers) {
  items.reserve(entry.dealCount);
}

void Company::forget(size_t first) {
  std::ranges::fill(touchedIn, -1);
  touch(0, first);
}

void Company::touch(size_t first, size_t end) {
  for (size_t phase = first; isOn && phase < end; ++phase)
    for (int64_t buffer : entry.phases[phase].buffers)
      touchedIn[buffer] = static_cast<int64_t>(phase);
}

void Company::begin(const Plane &plane) {
  load = plane;
  for (const Item &item : items)
    itemOf[item.deal] = -1;
  items.clear();
  work = 0;
}

void Company::add(size_t phase, const Space &space, int64_t tiles, double time, double timeOfDeal) {
  work += time;
  int64_t &known = itemOf[space.deal];
  if (known < 0) {
    known = static_cast<int64_t>(items.size());
    items.push_back({space.deal, phase, tiles, 0, timeOfDeal});
  }
  items[known].time += time;
}

/// A buffer is where the tiles were that touched it last, in as many parts.
void Company::measureNearness(std::span<const int64_t> sizes, std::span<const int64_t> firsts, const Item &item) {
  size_t workers = load.workers();
  std::ranges::fill(bytesNear, 0);
  for (int64_t buffer : entry.phases[item.phase].buffers) {
    if (touchedIn[buffer] < 0)
      continue;
    double bytes = double(std::max<int64_t>(0, sizes[entry.buffers[buffer].bytesSlot]));
    for (const Space &space : entry.phases[touchedIn[buffer]].spaces) {
      std::span<const int64_t> of = firsts.subspan(space.deal * (workers + 1), workers + 1);
      for (size_t worker = 0; of[workers] > 0 && worker < workers; ++worker)
        bytesNear[worker] += bytes * double(of[worker + 1] - of[worker]) / double(of[workers]);
    }
  }
}

/// Lays an item on one worker that is done with it at `latest`, if there is any.
bool Company::layWhole(const Item &item, double latest, std::span<int64_t> firsts) {
  std::optional<size_t> best;
  auto isBetter = [&](size_t worker, size_t other) {
    return std::tuple(-bytesNear[worker], load.endOf(worker)) < std::tuple(-bytesNear[other], load.endOf(other));
  };
  for (size_t worker = 0; worker < load.workers(); ++worker)
    if (load.endOf(worker) + item.time <= latest && (!best || isBetter(worker, *best)))
      best = worker;
  if (!best)
    return false;
  load.layOn(*best, item.tiles, item.time / double(item.tiles), firsts);
  whole += item.tiles > 1 && item.timeOfDeal >= 2 * grain;
  near += bytesNear[*best] > 0 && bytesNear[*best] == std::ranges::max(bytesNear);
  return true;
}

void Company::deal(std::span<const int64_t> sizes, std::span<int64_t> firsts) {
  double level = load.fill(work, load.workers()).second;
  std::ranges::sort(items, {}, [](const Item &item) { return std::pair(-item.time, item.deal); });
  for (const Item &item : items) {
    std::span<int64_t> dealt = firstsOf(item.deal, firsts);
    double part = isOn ? std::clamp(level - load.begin(), grain, longestPart) : grain;
    double latest = level + std::min(negligible, item.time / 4);
    if (item.tiles == 1 || item.timeOfDeal < 2 * grain)
      latest += std::max(0.0, load.begin() + item.time - level);
    if (item.tiles == 1 || item.timeOfDeal < 2 * part) {
      measureNearness(sizes, firsts, item);
      if (layWhole(item, latest, dealt))
        continue;
    }
    // What is too short alone may be worth a split with all that is dealt alike.
    size_t parts = std::clamp<double>(item.timeOfDeal / part, 1, double(load.workers()));
    bool isInTime = load.fill(item.time, parts).second <= latest;
    double shortest = (isInTime ? part : grain) * item.time / item.timeOfDeal;
    load.lay(item.tiles, item.time / double(item.tiles), shortest, dealt);
  }
}
