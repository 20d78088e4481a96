#include "runtime/FirstFit.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace freestone::runtime;

namespace {

int64_t alignTo(int64_t value, int64_t alignment) { return (value + alignment - 1) & -alignment; }

int64_t largestLive(std::span<const Lifetime> lifetimes) {
  std::map<int64_t, int64_t> changes; // phase → bytes that begin or end before it
  for (const Lifetime &lifetime : lifetimes) {
    if (lifetime.horizon >= lifetime.lastUse)
      continue;
    changes[lifetime.horizon] += lifetime.bytes;
    changes[lifetime.lastUse] -= lifetime.bytes;
  }
  int64_t live = 0, most = 0;
  for (auto [phase, change] : changes)
    most = std::max(most, live += change);
  return most;
}

} // namespace

std::optional<Placement> freestone::runtime::placeFirstFit(std::span<const Lifetime> lifetimes) {
  int64_t sum = 0;
  for (const Lifetime &lifetime : lifetimes)
    if (__builtin_add_overflow(sum, lifetime.bytes, &sum) || __builtin_add_overflow(sum, lifetime.alignment, &sum))
      return std::nullopt;

  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes : a < b;
  });

  Placement placement;
  placement.offsets.resize(lifetimes.size());
  placement.live = largestLive(lifetimes);
  std::vector<size_t> placed; // by offset
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
  return placement;
}
