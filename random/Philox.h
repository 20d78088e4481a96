#ifndef FREESTONE_RANDOM_PHILOX_H
#define FREESTONE_RANDOM_PHILOX_H

#include <array>
#include <cstdint>

namespace freestone::random {

inline constexpr int philoxRounds = 10;
/// Multipliers of the counter's words 0 and 2 in every round.
inline constexpr std::array<uint32_t, 2> philoxMultipliers = {0xD2511F53, 0xCD9E8D57};
/// Increments of the key's words after every round (Weyl sequence).
inline constexpr std::array<uint32_t, 2> philoxIncrements = {0x9E3779B9, 0xBB67AE85};

/// Philox4x32-10: 128 random bits for each counter and key (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
/// 2011). The same numbers on every machine.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < philoxRounds; ++round) {
    uint64_t first = uint64_t(philoxMultipliers[0]) * counter[0], second = uint64_t(philoxMultipliers[1]) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key = {key[0] + philoxIncrements[0], key[1] + philoxIncrements[1]};
  }
  return counter;
}

/// Word `number` of the stream of a key: the key is the generator's two key words, then the two upper words of its
/// counter, whose lower 64 bits count blocks of four words. Word n is word n % 4 of block n / 4.
constexpr uint32_t streamWord(std::array<uint32_t, 4> key, uint64_t number) {
  uint64_t block = number / 4;
  return philox({uint32_t(block), uint32_t(block >> 32), key[2], key[3]}, {key[0], key[1]})[number % 4];
}

} // namespace freestone::random

#endif // FREESTONE_RANDOM_PHILOX_H
