#include "train/data/SampleOrder.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <vector>

using namespace freestone::train;

static std::vector<int64_t> orderOf(int64_t samples, uint64_t seed, int64_t epoch) {
  SampleOrder order(samples, seed, epoch, true);
  std::vector<int64_t> result;
  for (int64_t i = 0; i < samples; ++i)
    result.push_back(order[i]);
  return result;
}

TEST(SampleOrder, isAPermutation) {
  for (int64_t samples : {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 4097}) {
    std::vector<int64_t> order = orderOf(samples, 3, 1), all(samples);
    std::sort(order.begin(), order.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << samples;
  }
}

TEST(SampleOrder, dependsOnSeedAndEpochAlone) {
  EXPECT_EQ(orderOf(1000, 1, 0), orderOf(1000, 1, 0));
  EXPECT_NE(orderOf(1000, 1, 0), orderOf(1000, 1, 1));
  EXPECT_NE(orderOf(1000, 1, 0), orderOf(1000, 2, 0));
  EXPECT_NE(orderOf(1000, 1, 0), orderOf(1000, 1 + (1ull << 32), 0));
  SampleOrder sorted(10, 1, 0, false);
  EXPECT_EQ(sorted[7], 7);
}

TEST(SampleOrder, hugeEpochsNeedNoMemory) {
  int64_t samples = (int64_t(1) << 40) + 12345;
  SampleOrder order(samples, 5, 2, true);
  std::vector<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i)
    seen.push_back(order[samples - 1 - i]);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [&](int64_t s) { return s >= 0 && s < samples; }));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

// All orders of four samples are equally frequent; 23 degrees of freedom: the statistic exceeds 50 once in 1,000 times.
TEST(SampleOrder, ordersOfFewSamplesAreUniform) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int trials = 24000;
  for (int seed = 0; seed < trials; ++seed)
    ++counts[orderOf(4, seed, seed % 3)];
  EXPECT_EQ(counts.size(), 24u);
  double statistic = 0;
  for (const auto &[order, count] : counts)
    statistic += std::pow(count - trials / 24.0, 2) / (trials / 24.0);
  EXPECT_LT(statistic, 50);
}

// A sample's position and successor are uniform: 99 degrees of freedom, above 150 once in 1,000 times.
TEST(SampleOrder, placesAndNeighboursAreUniform) {
  constexpr int64_t samples = 10;
  std::vector<int> places(samples * samples), neighbours(samples * samples);
  constexpr int trials = 20000;
  for (int epoch = 0; epoch < trials; ++epoch) {
    std::vector<int64_t> order = orderOf(samples, 11, epoch);
    for (int64_t i = 0; i < samples; ++i) {
      ++places[i * samples + order[i]];
      ++neighbours[order[i] * samples + order[(i + 1) % samples]];
    }
  }
  double placeStatistic = 0, neighbourStatistic = 0;
  for (int count : places)
    placeStatistic += std::pow(count - trials / 10.0, 2) / (trials / 10.0);
  for (int64_t i = 0; i < samples * samples; ++i)
    if (i / samples != i % samples)
      neighbourStatistic += std::pow(neighbours[i] - trials / 9.0, 2) / (trials / 9.0);
  EXPECT_LT(placeStatistic, 150);
  EXPECT_LT(neighbourStatistic, 150);
}
