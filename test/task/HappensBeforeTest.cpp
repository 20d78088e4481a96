// The planned edges and memory of every program are proved, and faults in them are found. The proof itself is tested
// against simulated runs in random orders.
#include "mlir/IR/Verifier.h"
#include "test/task/OrderChecks.h"
#include "test/task/RandomProgram.h"
#include "test/task/Simulation.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

using HappensBefore = OrderChecks;

const char *const chain = R"mlir(
!v = !graph.tensor<[n], f32>
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %b = task.buffer arena : !v
  %c = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "b" after all [] same [] {
    task.space @p(%a) to (%b) sizes [n] tiles n ceildiv 4 scratch 0 reads [4] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "c" after all [] same [] {
    task.space @p(%b) to (%c) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
  task.phase "y" after all [] same [] {
    task.space @p(%c) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [4] sites [] : (!v) -> (!v)
  }
}
)mlir";

TEST_F(HappensBefore, NamesTheTwoPhases) {
  ProgramOp program = plan(chain);
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  EXPECT_TRUE(phases[1].getAllAfter().empty());
  EXPECT_EQ(checkAll(program), std::nullopt);
  setAllAfter(phases[2], {});
  EXPECT_EQ(check(program, 1), std::nullopt);
  EXPECT_EQ(check(program, 2), "phase 0 'a' writes what phase 2 'c' writes, in no order");
  setAllAfter(phases[2], {0});
  EXPECT_EQ(check(program, 2), "phase 1 'b' reads what phase 2 'c' writes, in no order");

  // %b begins while %a is still live.
  program = plan(chain);
  program.getBuffers()[2].setFirstAttr(makeNumber(2));
  EXPECT_EQ(check(program, 1), "phase 1 'b' overwrites what phase 1 'b' reads");
}

TEST_F(HappensBefore, TilesThatOverlapAreFound) {
  ProgramOp program = plan(R"mlir(
    !v = !graph.tensor<[n], f32>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %x = task.buffer input "x" : !v
      %y = task.buffer output "y" : !v
      %z = task.buffer output "z" : !v
      task.phase "a" after all [] same [] {
        task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
        task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 4 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!v)
      }
    })mlir");
  ASSERT_TRUE(program);
  EXPECT_EQ(check(program, 2), "phase 0 'a' writes what phase 0 'a' writes, in no order");
}

TEST_F(HappensBefore, SizesThatTheProgramFindsAreOrdered) {
  ProgramOp program = plan(R"mlir(
    !v = !graph.tensor<[n], f32>
    !k = !graph.tensor<[k], i64>
    !one = !graph.tensor<[1], i64>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 1, 0 in [0, 100] bound #sym.expr<n>>] {
      %x = task.buffer input "x" : !v
      %count = task.buffer arena : !one
      %z = task.buffer output "z" : !k
      task.phase "find" after all [] same [] binds "k" {
        task.space @find(%x) to (%count) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> (!one)
      }
      task.phase "fill" after all [] same [] {
        task.space @fill(%x) to (%z) sizes [k] tiles k scratch 0 reads [?] writes [1] sites [] : (!v) -> (!k)
      }
    })mlir");
  ASSERT_TRUE(program);
  EXPECT_EQ(checkAll(program), std::nullopt);
  setAllAfter(program.getPhases()[1], {});
  EXPECT_EQ(check(program, 2), "phase 0 'find' writes what phase 1 'fill' reads, in no order");
}

TEST_F(HappensBefore, StateIsOverwrittenAfterItWasRead) {
  ProgramOp program = plan(R"mlir(
    !s = !graph.tensor<[40], f32>
    task.program @main symbols [] {
      %s = task.buffer state "s" : !s
      %y = task.buffer output "y" : !s
      task.phase "read" after all [] same [] {
        task.space @p(%s) to (%y) sizes [] tiles 10 scratch 0 reads [?] writes [4] sites [] : (!s) -> (!s)
      }
      task.phase "update" after all [] same [] {
        task.space @p(%s) to (%s) sizes [] tiles 10 scratch 0 reads [?] writes [?] sites [] : (!s) -> (!s)
      }
    })mlir");
  ASSERT_TRUE(program);
  EXPECT_EQ(checkAll(program), std::nullopt);
  setAllAfter(program.getPhases()[1], {});
  EXPECT_EQ(check(program, 1), std::nullopt);
  EXPECT_EQ(check(program, 2), "phase 0 'read' reads what phase 1 'update' writes, in no order");
}

TEST_F(HappensBefore, ProvesRandomPrograms) {
  std::mt19937_64 random(7);
  auto values = [&](StringRef symbol) { return valueOf(symbol); };
  int64_t shared = 0, elided = 0, ofTiles = 0, ofWindows = 0, checked = 0, proved = 0;
  for (int number = 0; number < 1000; ++number) {
    std::string text = makeRandomProgram(random, number % 4 ? KnownAccesses::some : KnownAccesses::none);
    n = 1 + random() % 40;
    m = 1 + random() % 40;
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    ASSERT_EQ(checkAll(program), std::nullopt) << text;
    proved += !findUnproved(program);
    for (PhaseOp phase : program.getPhases())
      elided += phase.getSameAfter().size(), ofTiles += phase.getAwaitedTiles().size(),
          ofWindows += phase.getAwaitedWindows().size();

    // Without shared memory, on one worker: the program's meaning.
    std::vector<int64_t> apart, offsets = place(program);
    int64_t end = 0, bytes = 0;
    for (auto [lifetime, offset] : llvm::zip_equal(lifetimesOf(program), offsets)) {
      apart.push_back(end);
      end += (lifetime.bytes + 63) / 64 * 64;
      bytes = std::max(bytes, offset + lifetime.bytes);
    }
    shared += bytes < end;
    std::optional<Results> expected = simulate(program, dealEvenly(program, 1), apart, values, random);
    ASSERT_TRUE(expected);
    for (int run = 0; run < 2; ++run, ++checked)
      ASSERT_EQ(simulate(program, dealAtRandom(program, 1 + random() % 8, random), offsets, values, random), expected)
          << text;
  }
  // The programs must be worth testing.
  EXPECT_GT(shared, 300);
  EXPECT_GT(elided, 300);
  EXPECT_GT(ofTiles, 100);
  EXPECT_GT(ofWindows, 200);
  EXPECT_EQ(checked, 2000);
  EXPECT_EQ(proved, 1000);
}

/// Marks the phases whose spaces have deals of their own; returns their number.
int64_t claim(ProgramOp program) {
  llvm::DenseMap<int64_t, int64_t> spacesOfDeals;
  for (PhaseOp phase : program.getPhases())
    for (SpaceOp space : phase.getSpaces())
      ++spacesOfDeals[*space.getDeal()];
  int64_t claimed = 0;
  for (PhaseOp phase : program.getPhases()) {
    bool isFree = llvm::all_of(phase.getSpaces(), [&](SpaceOp space) {
      return !space.needsWorker0() && spacesOfDeals.lookup(*space.getDeal()) == 1;
    });
    phase.setClaimed(isFree);
    claimed += isFree;
  }
  return claimed;
}

/// Whoever computes the tiles: the proof holds for runs that claim and for those that do not, and both mean the same.
TEST_F(HappensBefore, ProvesClaims) {
  std::mt19937_64 random(9);
  auto values = [&](StringRef symbol) { return valueOf(symbol); };
  int64_t claimed = 0, ofWindows = 0;
  for (int number = 0; number < 500; ++number) {
    std::string text = makeRandomProgram(random, number % 4 ? KnownAccesses::some : KnownAccesses::none);
    n = 1 + random() % 40;
    m = 1 + random() % 40;
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    claimed += claim(program);
    ASSERT_TRUE(succeeded(verify(program))) << text;
    for (PhaseOp phase : program.getPhases())
      for (int64_t before : phase.getAwaitedWindows())
        ofWindows += phase.getClaimed() || program.getPhases()[before].getClaimed();
    ASSERT_EQ(findUnproved(program), std::nullopt) << text;
    for (int64_t workers = 1; workers <= 8; ++workers)
      for (bool claims : {false, true})
        ASSERT_EQ(check(program, dealEvenly(program, workers), claims), std::nullopt) << text;
    std::vector<int64_t> offsets = place(program);
    std::optional<Results> expected = simulate(program, dealEvenly(program, 1), offsets, values, random);
    ASSERT_TRUE(expected);
    for (bool claims : {false, true, true})
      ASSERT_EQ(simulate(program, dealAtRandom(program, 2 + random() % 7, random), offsets, values, random, claims),
                expected)
          << text;
  }
  EXPECT_GT(claimed, 400);
  EXPECT_GT(ofWindows, 100);
}

TEST_F(HappensBefore, FindsEveryMissingEdge) {
  std::mt19937_64 random(8);
  int64_t found = 0;
  for (int number = 0; number < 300; ++number) {
    std::string text = makeRandomProgram(random, KnownAccesses::none);
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    for (PhaseOp phase : program.getPhases()) {
      std::vector<int64_t> all(phase.getAllAfter()), tiles(phase.getAwaitedTiles());
      // Memory is unchanged: its plan relied on the edge.
      auto expectFault = [&] {
        ASSERT_NE(checkAll(program), std::nullopt) << "edge of phase " << phase.getLabel().str() << " in\n" << text;
        ++found;
      };
      if (!all.empty()) {
        setAllAfter(phase, {});
        expectFault();
        setAllAfter(phase, all);
      }
      for (size_t each = 0; each < tiles.size(); ++each) {
        std::vector<int64_t> others = tiles;
        others.erase(others.begin() + each);
        phase.setTilesAfter(others);
        expectFault();
        phase.setTilesAfter(tiles);
      }
    }
  }
  EXPECT_GT(found, 1000);
}

/// For all sizes, and in samples with tiles that are dealt at random.
TEST_F(HappensBefore, FindsEveryMissingWindow) {
  std::mt19937_64 random(11);
  int64_t windows = 0, sampled = 0;
  for (int number = 0; number < 300; ++number) {
    std::string text = makeRandomProgram(random, KnownAccesses::some);
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    for (PhaseOp phase : program.getPhases()) {
      std::vector<int64_t> narrow(phase.getAwaitedWindows());
      for (size_t each = 0; each < narrow.size(); ++each) {
        std::vector<int64_t> others = narrow;
        others.erase(others.begin() + each);
        phase.setWindowsAfter(others);
        ASSERT_TRUE(findUnproved(program)) << "window of phase " << phase.getLabel().str() << " in\n" << text;
        ++windows;
        for (int run = 0; run < 2; ++run)
          sampled += check(program, dealAtRandom(program, 4, random)).has_value();
      }
      if (!narrow.empty())
        phase.setWindowsAfter(narrow);
    }
  }
  EXPECT_GT(windows, 100);
  EXPECT_GT(sampled, windows);
}

TEST_F(HappensBefore, FindsMemoryThatIsTakenTooEarly) {
  std::mt19937_64 random(9);
  int64_t broken = 0;
  for (int number = 0; number < 300; ++number) {
    std::string text = makeRandomProgram(random, KnownAccesses::none);
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    std::vector<runtime::Lifetime> right = lifetimesOf(program);
    for (BufferOp buffer : program.getBuffers()) {
      if (buffer.getKind() != BufferKind::arena)
        continue;
      for (bool shrink : {false, true}) {
        int64_t first = *buffer.getFirst(), freed = *buffer.getFreed();
        if (shrink)
          buffer.setFreedAttr(makeNumber(freed - 1));
        else
          buffer.setFirstAttr(makeNumber(first + 1));
        std::vector<int64_t> offsets = place(program);
        bool overlaps = false;
        for (size_t i = 0; i < right.size(); ++i)
          for (size_t j = 0; j < i; ++j)
            overlaps |= right[i].meets(right[j]) && offsets[i] < offsets[j] + right[j].bytes &&
                        offsets[j] < offsets[i] + right[i].bytes;
        ASSERT_EQ(checkAll(program).has_value(), overlaps) << text;
        broken += overlaps;
        buffer.setFirstAttr(makeNumber(first));
        buffer.setFreedAttr(makeNumber(freed));
      }
    }
  }
  EXPECT_GT(broken, 100);
}

/// For any change of a plan: if the checker finds nothing, every order of the workers gives the right results.
TEST_F(HappensBefore, AgreesWithSimulatedRuns) {
  std::mt19937_64 random(10);
  auto values = [&](StringRef symbol) { return valueOf(symbol); };
  int64_t harmless = 0, wrong = 0, found = 0;
  for (int number = 0; number < 600; ++number) {
    std::string text = makeRandomProgram(random, number % 4 ? KnownAccesses::some : KnownAccesses::none);
    n = 5 + random() % 40;
    m = 5 + random() % 40;
    ProgramOp program = plan(text);
    ASSERT_TRUE(program) << text;
    std::vector<int64_t> apart = placeApart(program);
    Results expected = *simulate(program, dealEvenly(program, 1), apart, values, random);

    for (int change = 0; change < 2; ++change) {
      SmallVector<PhaseOp, 8> phases = program.getPhases();
      SmallVector<BufferOp, 8> buffers = program.getBuffers();
      BufferOp buffer = buffers[random() % buffers.size()];
      PhaseOp phase = phases[random() % phases.size()];
      if (random() % 3 == 0 && !phase.getAwaitedWindows().empty())
        phase.setWindowsAfter(phase.getAwaitedWindows().drop_back().vec());
      else if (random() % 3 == 0 && buffer.getReleased())
        buffer.removeReleasedAttr();
      else if (buffer.getKind() != BufferKind::arena || random() % 2)
        setAllAfter(phase, {});
      else if (random() % 2)
        buffer.setFreedAttr(makeNumber(*buffer.getFreed() - 1));
      else
        buffer.setFirstAttr(makeNumber(*buffer.getFirst() + 1));
    }
    bool isProved = !findUnproved(program);
    for (int64_t workers : {1, 2, 4, 8}) {
      std::vector<int64_t> offsets = place(program);
      // What windows order depends on the deals.
      Dealing dealing = dealAtRandom(program, workers, random);
      bool isSafe = !check(program, dealing);
      ASSERT_TRUE(isSafe || !isProved) << text;
      (isSafe ? harmless : found) += 1;
      bool isRight = true;
      for (int run = 0; run < 4; ++run)
        isRight &= simulate(program, dealing, offsets, values, random) == expected;
      wrong += !isRight;
      ASSERT_TRUE(isRight || !isSafe) << workers << " workers, n = " << n << ", m = " << m << "\n" << text;
    }
  }
  EXPECT_GT(harmless, 200);
  EXPECT_GT(found, 200);
  // Most findings are no false alarms, even with few runs.
  EXPECT_GT(2 * wrong, found);
}

} // namespace
