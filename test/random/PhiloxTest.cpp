#include "random/Philox.h"
#include <gtest/gtest.h>

using namespace freestone::random;

using Numbers = std::array<uint32_t, 4>;

// The known answers of Random123.
TEST(Philox, knownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Numbers{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Numbers{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Numbers{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, streamTakesEveryWordOfABlock) {
  Numbers key = {0xa4093822, 0x299f31d0, 0x13198a2e, 0x03707344};
  for (uint64_t block : {0ull, 1ull, 0x05a308d3'243f6a88ull}) {
    Numbers words = philox({uint32_t(block), uint32_t(block >> 32), key[2], key[3]}, {key[0], key[1]});
    for (uint64_t word = 0; word < 4; ++word)
      EXPECT_EQ(streamWord(key, 4 * block + word), words[word]);
  }
}
