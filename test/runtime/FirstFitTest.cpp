#include "runtime/sizes/FirstFit.h"

#include <gtest/gtest.h>
#include <random>

using namespace freestone::runtime;

namespace {

std::vector<Lifetime> randomLifetimes(std::mt19937 &random, int count, int phases) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < count; ++i) {
    int64_t first = random() % phases;
    int64_t last = std::min<int64_t>(phases - 1, first + random() % 6);
    int64_t bytes = random() % 8 == 0 ? 0 : 1 + random() % (int64_t(1) << (4 + random() % 16));
    int64_t alignment = random() % 4 == 0 ? 4096 : 64;
    lifetimes.push_back({bytes, alignment, first - static_cast<int64_t>(random() % 2 && first > 0), last + 1});
  }
  return lifetimes;
}

void expectLegal(const std::vector<Lifetime> &lifetimes, const Placement &placement) {
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    int64_t begin = placement.offsets[a], end = begin + lifetimes[a].bytes;
    EXPECT_GE(begin, 0);
    EXPECT_EQ(begin % lifetimes[a].alignment, 0);
    EXPECT_LE(end, placement.bytes);
    for (size_t b = 0; b < a; ++b) {
      bool overlap = begin < placement.offsets[b] + lifetimes[b].bytes && placement.offsets[b] < end;
      EXPECT_FALSE(overlap && lifetimes[a].meets(lifetimes[b])) << a << " and " << b;
    }
  }
}

} // namespace

TEST(FirstFit, SharesBytesOnlyBetweenDisjointLifetimes) {
  std::vector<Lifetime> chain = {{100, 64, 0, 2}, {100, 64, 1, 3}, {100, 64, 2, 4}};
  auto placement = placeFirstFit(chain);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->offsets[0], placement->offsets[2]);
  EXPECT_NE(placement->offsets[0], placement->offsets[1]);
  EXPECT_EQ(placement->bytes, 228);
  EXPECT_EQ(placement->live, 200);
}

TEST(FirstFit, IsLegalOnRandomLifetimes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    auto lifetimes = randomLifetimes(random, 1 + random() % 60, 1 + random() % 40);
    auto placement = placeFirstFit(lifetimes);
    ASSERT_TRUE(placement);
    expectLegal(lifetimes, *placement);
    EXPECT_GE(placement->bytes, placement->live);
  }
}

TEST(FirstFit, StaysNearTheLowerBound) {
  std::mt19937 random(2);
  double sum = 0;
  constexpr int rounds = 20;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 300; ++i) {
      int64_t first = i / 2;
      lifetimes.push_back({int64_t(4096) << random() % 8, 64, first, std::min<int64_t>(150, first + 2 + random() % 8)});
    }
    auto placement = placeFirstFit(lifetimes);
    ASSERT_TRUE(placement);
    sum += static_cast<double>(placement->bytes) / placement->live;
  }
  EXPECT_LT(sum / rounds, 1.1);
}

TEST(FirstFit, RefusesSumsThatOverflow) {
  std::vector<Lifetime> huge = {{INT64_MAX / 2, 64, 0, 1}, {INT64_MAX / 2, 64, 0, 1}};
  EXPECT_FALSE(placeFirstFit(huge));
}

TEST(FirstFit, PlacesNothing) {
  auto placement = placeFirstFit({});
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->bytes, 0);
}
