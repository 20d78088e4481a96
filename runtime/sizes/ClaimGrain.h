#ifndef FREESTONE_RUNTIME_SIZES_CLAIMGRAIN_H
#define FREESTONE_RUNTIME_SIZES_CLAIMGRAIN_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace freestone::runtime {

/// Whether workers may claim tiles that take one of them `time` nanoseconds all together. A worker that loses its CPU
/// loses it for some milliseconds, in which others can take over no more than the rest of its share; shares in parts
/// cost some hundredths of their time, since every part packs its operands.
inline bool isWorthClaims(double time, int64_t workers) {
  constexpr double shortestShare = 1'000'000;
  return time >= shortestShare * double(workers);
}

/// The fewest tiles of a claim, which takes some 40 ns: so many that this is a hundredth of their time. 0: each worker
/// computes its share.
inline int64_t tilesOfClaim(double time, int64_t tiles, int64_t workers) {
  constexpr double shortestClaim = 4'000;
  if (tiles < 2 || !isWorthClaims(time, workers))
    return 0;
  return std::clamp<int64_t>(std::llround(std::ceil(shortestClaim * double(tiles) / time)), 1, tiles);
}

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_CLAIMGRAIN_H
