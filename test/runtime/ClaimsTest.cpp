#include "runtime/workers/Claims.h"

#include "runtime/sizes/ClaimGrain.h"
#include "runtime/workers/Competition.h"
#include <barrier>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace freestone::runtime;

namespace {

/// Two claimed spaces, of the deals 0 and 2.
Entry claimedEntry() {
  Entry entry;
  entry.dealCount = 3;
  entry.phases.resize(3);
  for (int64_t deal = 0; deal < 3; ++deal)
    entry.phases[deal].spaces = {
        {.deal = deal, .dealing = deal == 1 ? Space::Dealing::ByTime : Space::Dealing::Claimed}};
  return entry;
}

using Range = std::pair<int64_t, int64_t>;

struct Shares {
  Shares(Claims &claims, int64_t workers, std::vector<int64_t> firsts, std::vector<int64_t> grains)
      : firsts(std::move(firsts)), grains(std::move(grains)) {
    context.workers = workers;
    context.deals = this->firsts.data();
    context.grains = this->grains.data();
    context.claims = &claims;
  }
  std::vector<int64_t> firsts, grains;
  freestone_run_context context = {};
};

} // namespace

TEST(Claims, AreWorthAHundredthOfTheirTiles) {
  EXPECT_EQ(tilesOfClaim(1'999'999, 1000, 2), 0) << "a share is too short";
  EXPECT_EQ(tilesOfClaim(2'000'000, 1000, 2), 2);
  EXPECT_EQ(tilesOfClaim(2'000'000, 3, 2), 1);
  EXPECT_EQ(tilesOfClaim(1e9, 1, 2), 0) << "a single tile is nobody else's";
  EXPECT_EQ(tilesOfClaim(1e9, 0, 2), 0);
}

/// The owner from the front, others from the back, half of what is left; then the next execution begins anew.
TEST(Claims, TakePartsFromBothEnds) {
  Claims claims(claimedEntry(), 2);
  EXPECT_FALSE(claims.isEmpty());
  Shares shares(claims, 2, {0, 5, 5, 0, 0, 0, 0, 0, 0}, {2, 0, 1});
  auto claim = [&](int64_t worker, int64_t number) {
    int64_t range[2] = {-1, -1};
    bool isTaken = Claims::claim(&shares.context, worker, 0, number, range) != 0;
    return isTaken ? Range(range[0], range[1]) : Range(-1, -1);
  };
  for (int64_t number : {1, 4, 7}) {
    EXPECT_EQ(claim(1, number), Range(2, 5)) << "nothing was dealt to worker 1";
    EXPECT_EQ(claim(0, number), Range(0, 2));
    EXPECT_EQ(claim(0, number), Range(-1, -1));
    EXPECT_EQ(claim(1, number), Range(-1, -1));
  }
  EXPECT_EQ(claims.steals(), 3);
  claims.forget();
  EXPECT_EQ(claim(0, 7), Range(0, 4)) << "a run that failed is repeated with its number";
  shares.grains[0] = 0;
  EXPECT_EQ(claim(1, 8), Range(-1, -1)) << "too short at these sizes";
  EXPECT_EQ(claim(0, 8), Range(0, 5));
  EXPECT_EQ(claim(0, 8), Range(-1, -1));
  EXPECT_TRUE(Claims(claimedEntry(), 1).isEmpty());
}

/// In phase after phase without a barrier but that of the phase, however tiles were dealt and workers are delayed.
TEST(Claims, GiveEachTileToOneWorker) {
  for (int64_t workers = 2; workers <= 8; ++workers) {
    Claims claims(claimedEntry(), int(workers));
    std::mt19937_64 random(workers);
    constexpr int rounds = 60;
    std::vector<Shares> all;
    std::vector<std::vector<std::atomic<int>>> done;
    for (int round = 0; round < rounds; ++round) {
      int64_t tiles = random() % 200;
      std::vector<int64_t> firsts(3 * (workers + 1));
      for (int64_t worker = 0; worker <= workers; ++worker)
        firsts[2 * (workers + 1) + worker] = worker == workers ? tiles : worker == 0 ? 0 : random() % (tiles + 1);
      std::sort(firsts.end() - workers - 1, firsts.end());
      all.emplace_back(claims, workers, std::move(firsts), std::vector<int64_t>{1, 0, int64_t(1 + random() % 9)});
      done.emplace_back(tiles);
    }
    for (Shares &shares : all) { // moved
      shares.context.deals = shares.firsts.data();
      shares.context.grains = shares.grains.data();
    }
    std::barrier meet(workers);
    std::vector<std::thread> threads;
    for (int64_t worker = 0; worker < workers; ++worker)
      threads.emplace_back([&, worker] {
        for (int round = 0; round < rounds; ++round) {
          int64_t range[2];
          while (Claims::claim(&all[round].context, worker, 2, 10 + 3 * round, range)) {
            for (int64_t tile = range[0]; tile < range[1]; ++tile)
              done[round][tile].fetch_add(1, std::memory_order_relaxed);
            if (worker == round % workers)
              std::this_thread::yield();
          }
          meet.arrive_and_wait();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const auto &tiles : done)
      for (const std::atomic<int> &count : tiles)
        ASSERT_EQ(count.load(), 1) << workers;
    EXPECT_GT(claims.steals(), 0);
  }
}

TEST(Competition, IsSeenByTheCpusThatWorkersLose) {
  Competition machine(false);
  auto pass = [&](int milliseconds, uint64_t preemptions) {
    for (int passed = 0; passed < milliseconds; ++passed)
      machine.observe(1'000'000, passed == 0 ? preemptions : 0);
    return machine.isBusy();
  };
  EXPECT_FALSE(pass(200, 1)) << "now and then it happens on any machine";
  EXPECT_TRUE(pass(20, 5));
  EXPECT_TRUE(pass(80, 0));
  EXPECT_FALSE(pass(20, 0));
  EXPECT_TRUE(Competition(true).isBusy());
}
