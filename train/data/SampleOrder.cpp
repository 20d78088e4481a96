#include "train/data/SampleOrder.h"
#include "train/data/RandomIndex.h"
#include <bit>

namespace freestone::train {

// With many samples four rounds make a Feistel network indistinguishable from a random permutation; few samples need
// more.
static constexpr uint32_t rounds = 12;

SampleOrder::SampleOrder(int64_t samples, uint64_t seed, int64_t epoch, bool shuffle)
    : samples(samples), seed(seed), epoch(epoch), shuffle(shuffle) {
  int bits = std::bit_width(static_cast<uint64_t>(samples - 1));
  leftBits = bits / 2;
  rightBits = bits - leftBits;
}

/// A bijection on numbers of leftBits + rightBits bits.
uint64_t SampleOrder::permute(uint64_t value) const {
  uint64_t left = value >> rightBits, right = value & ((1ull << rightBits) - 1);
  auto mask = [&](uint32_t round, uint64_t half) -> uint64_t {
    return randomBits(seed, RandomUse::Order, epoch, uint64_t(round) << 32 | static_cast<uint32_t>(half))[0];
  };
  for (uint32_t round = 0; round < rounds; round += 2) {
    left ^= mask(round, right) & ((1ull << leftBits) - 1);
    right ^= mask(round + 1, left) & ((1ull << rightBits) - 1);
  }
  return left << rightBits | right;
}

int64_t SampleOrder::operator[](int64_t position) const {
  if (!shuffle)
    return position;
  // Cycle walking until the value is in range: less than two steps on average, and still a bijection.
  auto value = static_cast<uint64_t>(position);
  do
    value = permute(value);
  while (value >= static_cast<uint64_t>(samples));
  return static_cast<int64_t>(value);
}

} // namespace freestone::train
