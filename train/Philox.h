#ifndef FREESTONE_TRAIN_PHILOX_H
#define FREESTONE_TRAIN_PHILOX_H

#include <array>
#include <cstdint>

namespace freestone::train {

/// Philox4x32-10: 128 random bits for each counter and key (Salmon et al., 2011). The same numbers on every machine.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0], second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// What random numbers are for: different purposes never share a counter.
enum class RandomUse : uint32_t { Order = 1, WindowLength = 2, WindowOrigin = 3 };

/// A number in [0, limit), limit > 0, as a function of all arguments; its bias is below limit / 2^64.
constexpr int64_t randomBelow(int64_t limit, uint64_t seed, RandomUse use, int64_t epoch, uint64_t index) {
  std::array<uint32_t, 4> bits = philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                         static_cast<uint32_t>(epoch), static_cast<uint32_t>(use)},
                                        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  uint64_t wide = uint64_t(bits[0]) << 32 | bits[1];
  return static_cast<int64_t>(static_cast<unsigned __int128>(wide) * static_cast<uint64_t>(limit) >> 64);
}

} // namespace freestone::train

#endif // FREESTONE_TRAIN_PHILOX_H
