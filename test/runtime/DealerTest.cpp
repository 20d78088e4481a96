#include "runtime/sizes/Dealer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace freestone::runtime;

namespace {

/// A phase with one space of a deal of its own: slots 2 * number and 2 * number + 1 hold its tiles and its time.
Phase phaseOf(int64_t number, std::vector<int64_t> awaits = {}) {
  Phase phase;
  phase.spaces = {{2 * number, 2 * number + 1, number}};
  phase.awaits = std::move(awaits);
  return phase;
}

Entry entryOf(std::vector<Phase> phases) {
  Entry entry;
  entry.dealCount = phases.size();
  entry.phases = std::move(phases);
  return entry;
}

std::vector<int64_t> firstsOf(const Deals &deals, int64_t deal, size_t workers) {
  auto begin = deals.firsts.begin() + deal * (workers + 1);
  return {begin, begin + workers + 1};
}

} // namespace

TEST(Plane, FillsWhatIsFreeFirst) {
  Plane plane(3);
  std::vector<int64_t> firsts(4);
  EXPECT_EQ(plane.layEvenly(2, 1000, firsts), 1000);
  EXPECT_EQ(firsts, (std::vector<int64_t>{0, 1, 2, 2}));
  // Worker 2 is free, and two tiles ahead once it has made up for it.
  EXPECT_EQ(plane.lay(4, 500, 0, firsts), 1500);
  EXPECT_EQ(firsts, (std::vector<int64_t>{0, 1, 1, 4}));
  EXPECT_EQ(plane.idleUntil(2000), 500 + 500 + 1000);
  EXPECT_EQ(plane.await(2000), 2000);
  EXPECT_EQ(plane.end(), 2000);
}

TEST(Plane, DoesNotSplitWhatIsShort) {
  Plane plane(4);
  std::vector<int64_t> firsts(5);
  plane.lay(100, 1, 50, firsts);
  EXPECT_EQ(std::ranges::count_if(firsts, [](int64_t first) { return first % 50 == 0; }), 5);
  plane.lay(0, 0, 50, firsts);
  EXPECT_EQ(firsts, (std::vector<int64_t>{0, 0, 0, 0, 0}));
}

TEST(Plane, LaysEveryTileOnce) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    size_t workers = 1 + random() % 9;
    Plane plane(workers);
    std::vector<int64_t> firsts(workers + 1);
    double work = 0, longest = 0;
    for (int number = 0; number < 5; ++number) {
      int64_t tiles = random() % 40;
      double time = double(random() % 1000);
      work += double(tiles) * time;
      longest = std::max(longest, time);
      plane.lay(tiles, time, 0, firsts);
      EXPECT_EQ(firsts.front(), 0);
      EXPECT_EQ(firsts.back(), tiles);
      EXPECT_TRUE(std::ranges::is_sorted(firsts));
    }
    // No worker is ahead by more than a tile.
    EXPECT_LE(plane.end(), work / double(workers) + longest);
  }
}

TEST(Dealer, DealsIndependentPhasesSideBySide) {
  Entry entry = entryOf({phaseOf(0), phaseOf(1), phaseOf(2, {0, 1})});
  Dealer dealer(entry, 2);
  Deals deals = dealer.makeRoom();
  std::vector<int64_t> sizes = {1, 9000, 1, 8000, 6, 12000};
  dealer.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 0, 2), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(firstsOf(deals, 2, 2), (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(deals.nanoseconds, 15000);
  // Worker 0 is always awaited.
  EXPECT_EQ(deals.computing, (std::vector<char>{1, 0, 1, 1, 1, 1}));

  Dealer even(entry, 2, {.byTimes = false});
  even.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(deals.nanoseconds, 9000 + 8000 + 6000);
}

TEST(Dealer, KeepsDealsTogether) {
  Entry entry = entryOf({phaseOf(0), phaseOf(1), phaseOf(1)});
  entry.phases[1].spaces[0].dealing = Space::Dealing::Evenly;
  entry.dealCount = 2;
  Dealer dealer(entry, 2);
  Deals deals = dealer.makeRoom();
  std::vector<int64_t> sizes = {1, 50000, 3, 9000};
  dealer.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 2, 3})) << "however late worker 0 is";
}

TEST(Dealer, DealsEvenlyWithoutTimes) {
  Entry entry = entryOf({phaseOf(0), phaseOf(1)});
  Dealer dealer(entry, 2);
  Deals deals = dealer.makeRoom();
  std::vector<int64_t> sizes = {3, 9000, 8, 0};
  dealer.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 4, 8}));
}

/// Sizes that a run determines change the deals of what follows alone.
TEST(Dealer, DealsWhatFollowsAgain) {
  Entry entry = entryOf({phaseOf(0), phaseOf(1), phaseOf(2)});
  Dealer dealer(entry, 2);
  Deals deals = dealer.makeRoom();
  std::vector<int64_t> sizes = {4, 8000, 1, 2000, 8, 9000};
  dealer.deal(sizes, 0, deals);
  std::vector<int64_t> before = firstsOf(deals, 0, 2);
  sizes = {400, 8000, 1, 2000, 2, 9000};
  dealer.deal(sizes, 2, deals);
  EXPECT_EQ(firstsOf(deals, 0, 2), before);
  EXPECT_EQ(firstsOf(deals, 2, 2), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Dealer, SplitsNothingThatOthersLeaveNoRoomFor) {
  Entry entry = entryOf({phaseOf(0), phaseOf(1), phaseOf(2), phaseOf(3)});
  // Two short phases, a long one, and one that is alone behind them.
  entry.phases[3].awaits = {0, 1, 2};
  std::vector<int64_t> sizes = {4, 4000, 6, 3000, 100, 90000, 4, 4000};
  Dealer dealer(entry, 2);
  Deals deals = dealer.makeRoom();
  dealer.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 2, 2), (std::vector<int64_t>{0, 50, 100})) << "times are estimates";
  EXPECT_EQ(firstsOf(deals, 0, 2), (std::vector<int64_t>{0, 4, 4}));
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 0, 6}));
  EXPECT_EQ(firstsOf(deals, 3, 2), (std::vector<int64_t>{0, 2, 4})) << "no others keep worker 1 busy";
  EXPECT_EQ(dealer.getCompany().keptWhole(), 2u);

  Dealer alone(entry, 2, {.inCompany = false});
  alone.deal(sizes, 0, deals);
  EXPECT_EQ(firstsOf(deals, 0, 2), (std::vector<int64_t>{0, 2, 4}));
  EXPECT_EQ(firstsOf(deals, 1, 2), (std::vector<int64_t>{0, 3, 6}));
  EXPECT_EQ(alone.getCompany().keptWhole(), 0u);
}

/// Each of four branches stays where it began, in whatever order its second operators come.
TEST(Dealer, LeavesBranchesWhereTheirDataAre) {
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    std::vector<Phase> phases;
    for (int64_t branch = 0; branch < 4; ++branch) {
      phases.push_back(phaseOf(branch));
      phases.back().buffers = {branch};
    }
    for (size_t place = 0; place < 4; ++place) {
      auto branch = static_cast<int64_t>(order[place]);
      phases.push_back(phaseOf(4 + static_cast<int64_t>(place), {branch}));
      phases.back().buffers = {branch, 4 + branch};
    }
    Entry entry = entryOf(std::move(phases));
    entry.buffers.resize(8);
    std::vector<int64_t> sizes;
    for (int phase = 0; phase < 8; ++phase)
      sizes.insert(sizes.end(), {5, 3000});
    for (Buffer &buffer : entry.buffers)
      buffer.bytesSlot = static_cast<int64_t>(sizes.size());
    sizes.push_back(4096);
    Dealer dealer(entry, 2);
    Deals deals = dealer.makeRoom();
    dealer.deal(sizes, 0, deals);
    for (size_t place = 0; place < 4; ++place) {
      std::vector<int64_t> first = firstsOf(deals, static_cast<int64_t>(order[place]), 2);
      EXPECT_TRUE(first[1] == 0 || first[1] == 5) << "whole";
      EXPECT_EQ(firstsOf(deals, 4 + static_cast<int64_t>(place), 2), first);
    }
    EXPECT_EQ(dealer.getCompany().keptWhole(), 8u);
    EXPECT_EQ(dealer.getCompany().keptNear(), 4u);
    EXPECT_EQ(deals.nanoseconds, 4 * 3000);
  } while (std::ranges::next_permutation(order).found);
}

/// A single tile goes to the worker that made its operand, if that is free about as early as the other one.
TEST(Dealer, PrefersTheWorkerThatHasTheData) {
  for (int64_t later : {100, 4000}) {
    Entry entry = entryOf({phaseOf(0), phaseOf(1), phaseOf(2, {1})});
    entry.buffers.resize(2);
    entry.phases[0].buffers = entry.phases[2].buffers = {0};
    entry.phases[1].buffers = {1};
    std::vector<int64_t> sizes = {1, 5000 + later, 1, 5000, 1, 3000, 4096};
    for (Buffer &buffer : entry.buffers)
      buffer.bytesSlot = 6;
    Dealer dealer(entry, 2), anywhere(entry, 2, {.inCompany = false});
    Deals deals = dealer.makeRoom();
    dealer.deal(sizes, 0, deals);
    EXPECT_EQ(firstsOf(deals, 0, 2), (std::vector<int64_t>{0, 1, 1}));
    EXPECT_EQ(firstsOf(deals, 2, 2)[1], later == 100) << "on worker 0 unless that is late";
    EXPECT_EQ(dealer.getCompany().keptNear(), later == 100 ? 1u : 0u);
    anywhere.deal(sizes, 0, deals);
    EXPECT_EQ(firstsOf(deals, 2, 2)[1], 0);
  }
}

/// Company costs no more than a tile and what is negligible, deals every tile once, and equal sizes alike.
TEST(Dealer, LosesNoBalanceInCompany) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    size_t workers = 2 + random() % 12, count = 1 + random() % 20;
    std::vector<Phase> phases;
    std::vector<int64_t> sizes;
    double work = 0, longest = 0;
    for (size_t number = 0; number < count; ++number) {
      phases.push_back(phaseOf(static_cast<int64_t>(number)));
      int64_t tiles = 1 + random() % 30, time = 1 + random() % (random() % 2 ? 3000 : 60000);
      sizes.insert(sizes.end(), {tiles, time});
      work += double(time);
      longest = std::max(longest, double(time) / double(tiles));
    }
    Entry entry = entryOf(std::move(phases));
    Dealer dealer(entry, workers), again(entry, workers);
    Deals deals = dealer.makeRoom(), others = again.makeRoom();
    dealer.deal(sizes, 0, deals);
    again.deal(sizes, 0, others);
    EXPECT_EQ(deals.firsts, others.firsts);
    for (size_t number = 0; number < count; ++number) {
      std::vector<int64_t> firsts = firstsOf(deals, static_cast<int64_t>(number), workers);
      EXPECT_EQ(firsts.front(), 0);
      EXPECT_EQ(firsts.back(), sizes[2 * number]);
      EXPECT_TRUE(std::ranges::is_sorted(firsts));
    }
    EXPECT_LE(deals.nanoseconds, work / double(workers) + longest + 2 * Company::negligible);
  }
}
