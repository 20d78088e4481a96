// Loops and branches in random orders of the workers, which wait by the progress numbers of compiled code.
#include "test/task/OrderChecks.h"
#include "test/task/RandomLoops.h"
#include "test/task/Simulation.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

class LoopSimulation : public OrderChecks {
protected:
  /// The checker's result in all ways in which data may decide.
  bool isSafe(ProgramOp program, const Dealing &dealing) const {
    auto values = [&](StringRef symbol) { return valueOf(symbol); };
    std::vector<int64_t> offsets = place(program);
    AwaitedWorkers awaited(program, dealing, offsets, values);
    for (const Decisions &decisions : Decisions::cover(program)) {
      Execution execution(program, values, decisions);
      if (findConflict(execution, collectAccesses(program, execution, dealing, offsets, values), awaited))
        return false;
    }
    return true;
  }

  /// Removes the edges of one kind of a phase or loop, if there are any.
  bool dropEdges(ProgramOp program, std::mt19937_64 &random) {
    SmallVector<PhaseOp, 8> phases = program.getPhases();
    PhaseOp phase = phases[random() % phases.size()];
    SmallVector<LoopOp> loops;
    program.walk([&](LoopOp loop) { loops.push_back(loop); });
    LoopOp loop = loops[random() % loops.size()];
    auto drop = [](ArrayRef<int64_t> edges, auto remove) {
      if (edges.empty())
        return false;
      remove();
      return true;
    };
    switch (random() % 7) {
    case 0:
      return drop(phase.getAwaitedTiles(), [&] { phase.removeTilesAfterAttr(); });
    case 1:
      return drop(phase.getAwaitedWindows(), [&] { phase.removeWindowsAfterAttr(); });
    case 2:
      return drop(phase.getAwaitedAgain(), [&] { phase.removeAgainAfterAttr(); });
    case 3:
      return drop(phase.getWindowsAgain(), [&] { phase.removeAgainWindowsAfterAttr(); });
    case 4:
      return drop(loop.getAwaited(), [&] { loop.removeAllAfterAttr(); });
    case 5:
      return drop(loop.getAwaitedAgain(), [&] { loop.removeAgainAfterAttr(); });
    default:
      return drop(phase.getAllAfter(), [&] { setAllAfter(phase, {}); });
    }
  }
};

/// What is proved gives the same results in every order, with the memory that it shares.
TEST_F(LoopSimulation, PlannedLoopsAreRight) {
  std::mt19937_64 random(21);
  auto values = [&](StringRef symbol) { return valueOf(symbol); };
  int64_t again = 0, windows = 0, proved = 0;
  for (int number = 0; number < 300; ++number) {
    std::string text = makeRandomLoops(random);
    n = 1 + random() % 40;
    k = random() % 6;
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    proved += !findUnproved(program);
    for (PhaseOp phase : program.getPhases())
      again += phase.getAwaitedAgain().size(), windows += phase.getWindowsAgain().size();
    std::vector<int64_t> apart = placeApart(program), offsets = place(program);
    for (int run = 0; run < 4; ++run) {
      uint64_t decisions = random();
      std::optional<Results> expected =
          simulate(program, dealEvenly(program, 1), apart, values, random, /*claims=*/false, decisions);
      ASSERT_TRUE(expected) << text;
      ASSERT_EQ(simulate(program, dealAtRandom(program, 1 + random() % 8, random), offsets, values, random,
                         /*claims=*/false, decisions),
                expected)
          << "n = " << n << ", k = " << k << "\n"
          << text;
    }
  }
  EXPECT_EQ(proved, 300);
  EXPECT_GT(again, 100);
  EXPECT_GT(windows, 100);
}

/// For any edge that is taken away: if the proof finds nothing, every order of the workers gives the right results.
TEST_F(LoopSimulation, ProofAgreesWithSimulatedLoops) {
  std::mt19937_64 random(22);
  auto values = [&](StringRef symbol) { return valueOf(symbol); };
  int64_t dropped = 0, wrong = 0, unproved = 0;
  for (int number = 0; number < 400; ++number) {
    std::string text = makeRandomLoops(random);
    n = 5 + random() % 40;
    k = random() % 6;
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    std::vector<int64_t> apart = placeApart(program), offsets = place(program);
    bool isChanged = false;
    for (int attempt = 0; attempt < 20 && !isChanged; ++attempt)
      isChanged = dropEdges(program, random);
    dropped += isChanged;
    bool isProved = !findUnproved(program);
    unproved += !isProved;
    bool isWrong = false;
    for (int run = 0; run < 8; ++run) {
      uint64_t decisions = random();
      Dealing dealing = dealAtRandom(program, 2 + random() % 7, random);
      std::optional<Results> expected =
          simulate(program, dealEvenly(program, 1), apart, values, random, /*claims=*/false, decisions);
      bool isRight = simulate(program, dealing, offsets, values, random, /*claims=*/false, decisions) == expected;
      isWrong |= !isRight;
      ASSERT_TRUE(isRight || !isProved) << "n = " << n << ", k = " << k << "\n" << text;
      ASSERT_TRUE(isRight || !isSafe(program, dealing)) << "n = " << n << ", k = " << k << "\n" << text;
    }
    wrong += isWrong;
  }
  EXPECT_GT(dropped, 200);
  // Most findings are no false alarms, even with few runs.
  EXPECT_GT(2 * wrong, unproved);
}

} // namespace
