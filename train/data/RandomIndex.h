#ifndef FREESTONE_TRAIN_DATA_RANDOMINDEX_H
#define FREESTONE_TRAIN_DATA_RANDOMINDEX_H

#include "random/Philox.h"

namespace freestone::train {

/// The purpose of random numbers: different purposes never share a counter.
enum class RandomUse : uint32_t { Order = 1, WindowLength = 2, WindowOrigin = 3 };

/// 128 random bits as a function of all arguments.
constexpr std::array<uint32_t, 4> randomBits(uint64_t seed, RandomUse use, int64_t epoch, uint64_t index) {
  return random::philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(epoch),
                         static_cast<uint32_t>(use)},
                        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// A number in [0, limit), limit > 0, as a function of all arguments; its bias is below limit / 2^64.
constexpr int64_t randomBelow(int64_t limit, uint64_t seed, RandomUse use, int64_t epoch, uint64_t index) {
  std::array<uint32_t, 4> bits = randomBits(seed, use, epoch, index);
  uint64_t wide = uint64_t(bits[0]) << 32 | bits[1];
  return static_cast<int64_t>(static_cast<unsigned __int128>(wide) * static_cast<uint64_t>(limit) >> 64);
}

} // namespace freestone::train

#endif // FREESTONE_TRAIN_DATA_RANDOMINDEX_H
