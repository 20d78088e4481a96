#include "runtime/sizes/FirstFit.h"

#include <algorithm>
#include <numeric>

using namespace freestone::runtime;

static int64_t alignTo(int64_t value, int64_t alignment) { return (value + alignment - 1) & -alignment; }

int64_t FirstFit::largestLive(std::span<const Lifetime> lifetimes) {
  changes.clear();
  for (const Lifetime &lifetime : lifetimes) {
    if (lifetime.first >= lifetime.freed)
      continue;
    changes.push_back({lifetime.first, lifetime.bytes});
    changes.push_back({lifetime.freed, -lifetime.bytes});
  }
  std::ranges::sort(changes, {}, &Change::phase);
  int64_t live = 0, most = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    live += changes[i].bytes;
    if (i + 1 == changes.size() || changes[i + 1].phase != changes[i].phase)
      most = std::max(most, live);
  }
  return most;
}

const Placement *FirstFit::place(std::span<const Lifetime> lifetimes) {
  int64_t sum = 0;
  for (const Lifetime &lifetime : lifetimes)
    if (__builtin_add_overflow(sum, lifetime.bytes, &sum) || __builtin_add_overflow(sum, lifetime.alignment, &sum))
      return nullptr;

  order.resize(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes : a < b;
  });

  placement.offsets.assign(lifetimes.size(), 0);
  placement.bytes = 0;
  placement.live = largestLive(lifetimes);
  placed.clear();
  for (size_t index : order) {
    const Lifetime &lifetime = lifetimes[index];
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!lifetime.meets(lifetimes[other]))
        continue;
      int64_t begin = placement.offsets[other];
      if (begin >= offset + lifetime.bytes)
        break;
      offset = std::max(offset, alignTo(begin + lifetimes[other].bytes, lifetime.alignment));
    }
    placement.offsets[index] = offset;
    placement.bytes = std::max(placement.bytes, offset + lifetime.bytes);
    auto place = std::ranges::upper_bound(placed, offset, {}, [&](size_t other) { return placement.offsets[other]; });
    placed.insert(place, index);
  }
  return &placement;
}

std::optional<Placement> freestone::runtime::placeFirstFit(std::span<const Lifetime> lifetimes) {
  FirstFit firstFit;
  const Placement *placement = firstFit.place(lifetimes);
  return placement ? std::optional(*placement) : std::nullopt;
}
