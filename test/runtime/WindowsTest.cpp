#include "runtime/sizes/Windows.h"

#include <gtest/gtest.h>
#include <random>

using namespace freestone::runtime;

namespace {

/// The tiles of each worker, at random.
std::vector<int64_t> dealAtRandom(int64_t tiles, int64_t workers, std::mt19937_64 &random) {
  std::vector<int64_t> firsts = {0, tiles};
  while (static_cast<int64_t>(firsts.size()) <= workers)
    firsts.push_back(random() % (tiles + 1));
  std::ranges::sort(firsts);
  return firsts;
}

/// Whether a tile of one range shares an element with one of the other, one by one.
bool doMeet(int64_t first, int64_t last, TileBlocks blocks, int64_t otherFirst, int64_t otherLast, TileBlocks others) {
  for (int64_t tile = first; tile < last; ++tile)
    for (int64_t other = otherFirst; other < otherLast; ++other) {
      int64_t begin = tile / blocks.tiles * blocks.elements, otherBegin = other / others.tiles * others.elements;
      if (begin < otherBegin + others.elements && otherBegin < begin + blocks.elements)
        return true;
    }
  return false;
}

} // namespace

TEST(Windows, AreOfTheWorkersThatTouchTheSameElements) {
  std::mt19937_64 random(1);
  int64_t narrow = 0;
  for (int round = 0; round < 3000; ++round) {
    int64_t workers = 1 + random() % 8, tiles = 1 + random() % 30, others = 1 + random() % 30;
    TileBlocks blocks{int64_t(1 + random() % 12), int64_t(1 + random() % 4)};
    TileBlocks ofOthers{int64_t(1 + random() % 12), int64_t(1 + random() % 4)};
    std::vector<int64_t> firsts = dealAtRandom(tiles, workers, random);
    std::vector<int64_t> otherFirsts = dealAtRandom(others, workers, random);
    for (int64_t worker = 0; worker < workers; ++worker) {
      WorkerRange range;
      addMeeting(range, firsts[worker], firsts[worker + 1], blocks, otherFirsts, ofOthers);
      int64_t begin = workers, end = 0;
      for (int64_t other = 0; other < workers; ++other)
        if (doMeet(firsts[worker], firsts[worker + 1], blocks, otherFirsts[other], otherFirsts[other + 1], ofOthers)) {
          begin = std::min(begin, other);
          end = other + 1;
        }
      EXPECT_EQ(range.begin, begin < end ? begin : 0);
      EXPECT_EQ(range.end, end);
      narrow += end - begin < workers;
    }
  }
  EXPECT_GT(narrow, 3000);
}

/// A single tile may touch anything; without tiles, nobody is awaited; blocks may be larger than any number.
TEST(Windows, OfSingleTilesAreOfAllThatHaveSome) {
  std::vector<int64_t> firsts = {0, 0, 3, 3, 6, 6};
  WorkerRange range;
  addMeeting(range, 0, 1, TileBlocks(), firsts, {INT64_MAX / 2, 1});
  EXPECT_EQ(range.begin, 1);
  EXPECT_EQ(range.end, 4);
  range = {};
  addMeeting(range, 2, 2, {1, 1}, firsts, {1, 1});
  EXPECT_EQ(range.begin, range.end);
  addMeeting(range, 4, 5, {1, 1}, firsts, {1, 1});
  EXPECT_TRUE(range.contains(3));
  EXPECT_FALSE(range.contains(2));
}

TEST(Windows, AreWideWhereMemoryIsTakenAgain) {
  // Phase 1 waits for 0, 2 for 1, 3 for 2.
  std::vector<NarrowWait> waits = {{1, 0}, {2, 1}, {3, 2}};
  WideWaits wide;
  // The buffers of phases 0 and 2 share bytes: the wait of phase 2 for 1, or of 1 for 0, does not suffice until 1 is done.
  std::vector<PlacedBuffer> buffers = {{0, 2, 4, 1, 0, 64}, {1, 3, 4, 2, 64, 128}, {2, 4, 4, 3, 0, 64}};
  EXPECT_EQ(wide.choose(waits, buffers), (std::vector<char>{0, 1, 0}));
  buffers = {{0, 2, 4, 1, 0, 64}, {1, 3, 4, 2, 64, 128}, {2, 4, 4, 3, 128, 192}};
  EXPECT_EQ(wide.choose(waits, buffers), (std::vector<char>{0, 0, 0}));
  // Other waits have told already.
  buffers = {{0, 2, 2, 1, 0, 64}, {2, 4, 4, 3, 0, 64}};
  EXPECT_EQ(wide.choose(waits, buffers), (std::vector<char>{0, 0, 0}));
  // One wait for both.
  buffers = {{0, 2, 4, 0, 0, 64}, {0, 2, 4, 1, 64, 128}, {2, 4, 4, 3, 0, 64}, {3, 4, 4, 3, 64, 128}};
  EXPECT_EQ(wide.choose(waits, buffers), (std::vector<char>{0, 1, 0}));
}

/// However buffers lie, everybody is done with one before another one takes its bytes.
TEST(Windows, AreWideEnoughForAllMemory) {
  std::mt19937_64 random(2);
  int64_t demands = 0, narrow = 0;
  for (int round = 0; round < 2000; ++round) {
    int64_t phases = 3 + random() % 12;
    std::vector<NarrowWait> waits;
    for (int64_t phase = 1; phase < phases; ++phase)
      waits.push_back({phase, phase - 1 - int64_t(random() % 2 ? 0 : random() % phase)});
    std::vector<PlacedBuffer> buffers;
    for (int64_t count = 2 + random() % 8; count > 0; --count) {
      int64_t first = random() % phases, last = std::min<int64_t>(phases - 1, first + random() % 3), freed = last + 1;
      auto tells = [&](const NarrowWait &wait) { return wait.phase >= freed && wait.awaited >= last; };
      auto found = std::ranges::find_if(waits, tells);
      freed = found == waits.end() ? phases : found->phase;
      int64_t begin = 64 * (random() % 4);
      buffers.push_back({first, freed, phases, last, begin, begin + 64});
    }
    WideWaits chooser;
    std::vector<char> wide = chooser.choose(waits, buffers);
    for (const PlacedBuffer &one : buffers)
      for (const PlacedBuffer &other : buffers) {
        if (one.freed > other.first || one.begin != other.begin)
          continue;
        bool isDone = false;
        for (size_t wait = 0; wait < waits.size(); ++wait)
          isDone |= wide[wait] && waits[wait].phase <= other.first && waits[wait].awaited >= one.last;
        EXPECT_TRUE(isDone);
        ++demands;
      }
    narrow += std::ranges::count(wide, 0);
  }
  EXPECT_GT(demands, 500);
  EXPECT_GT(narrow, 2000);
}
