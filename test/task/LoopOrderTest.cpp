// The order of phases in loops, within an iteration and from one to the next.
#include "test/task/OrderChecks.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

using LoopOrder = OrderChecks;

const char *const loop = R"mlir(
!v = !graph.tensor<[n], f32>
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !v
  %a = task.buffer arena : !v
  %s = task.buffer arena : !graph.tensor<[2, n], f32>
  %old = task.view %s loop 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
  %new = task.view %s loop 0 shift 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
  %b = task.buffer arena : !v
  %y = task.buffer output "y" : !v
  task.phase "first" after all [] same [] {
    task.space @p(%x) to (%s) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> !graph.tensor<[2, n], f32>
  }
  task.phase "before" after all [] same [] {
    task.space @p(%x) to (%a) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> !v
  }
  task.loop 0 "loop" trips n {
    task.phase "inside" after all [] same [] {
      task.space @p(%old) to (%b) sizes [n] tiles n scratch 0 reads [?] writes [1] sites [] : (!v) -> !v
    }
    task.phase "next" after all [] same [] {
      task.space @q(%b, %a) to (%new) sizes [n] tiles n scratch 0 reads [?, 1] writes [1] sites [] : (!v, !v) -> !v
    }
  }
  task.phase "behind" after all [] same [] {
    task.space @p(%old) to (%y) sizes [n] tiles n scratch 0 reads [?] writes [1] sites [] : (!v) -> !v
  }
}
)mlir";

TEST_F(LoopOrder, IsProved) {
  ProgramOp program = plan(loop);
  ASSERT_TRUE(program);
  EXPECT_EQ(checkAll(program), std::nullopt);
  EXPECT_EQ(findUnproved(program), std::nullopt);
}

/// Edges take the place of meetings: of the loop for what comes before it, of the first phase for the last one of the
/// iteration before, of what comes behind.
TEST_F(LoopOrder, EveryWaitOfALoopIsNeeded) {
  ProgramOp program = plan(loop);
  ASSERT_TRUE(program);
  auto loop = *program.getOps<LoopOp>().begin();
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  EXPECT_TRUE(loop.getAwaitedAgain().empty());
  ASSERT_EQ(std::vector<int64_t>(phases[2].getAwaitedAgain()), std::vector<int64_t>{3});
  EXPECT_TRUE(phases[3].getAwaitedAgain().empty());
  auto expectFault = [&] {
    EXPECT_TRUE(check(program, 2));
    EXPECT_TRUE(findUnproved(program));
  };
  phases[2].removeAgainAfterAttr();
  expectFault();
  phases[2].setAgainAfterAttr(makeEdge(2));
  expectFault();
  phases[2].setAgainAfterAttr(makeEdge(3));
  EXPECT_EQ(checkAll(program), std::nullopt);

  ASSERT_EQ(std::vector<int64_t>(loop.getAwaited()), std::vector<int64_t>{1});
  loop.removeAllAfterAttr();
  expectFault();
  loop.setAllAfterAttr(makeEdge(1));
  ASSERT_EQ(std::vector<int64_t>(phases[4].getAllAfter()), std::vector<int64_t>{3});
  setAllAfter(phases[4], {});
  expectFault();
}

/// What an iteration does not need of the one before is in order by the workers alone.
TEST_F(LoopOrder, IterationsOfWorkersAloneNeedNoWait) {
  ProgramOp program = plan(R"mlir(
    !v = !graph.tensor<[n], f32>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %s = task.buffer arena : !graph.tensor<[2, n], f32>
      %old = task.view %s loop 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %new = task.view %s loop 0 shift 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %b = task.buffer arena : !v
      %y = task.buffer output "y" : !v
      task.loop 0 "loop" trips 50 {
        task.phase "inside" after all [] same [] {
          task.space @p(%old) to (%b) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> !v
        }
        task.phase "next" after all [] same [] {
          task.space @q(%b) to (%new) sizes [n] tiles n scratch 0 reads [1] writes [1] sites [] : (!v) -> !v
        }
      }
      task.phase "behind" after all [] same [] {
        task.space @p(%old) to (%y) sizes [n] tiles n scratch 0 reads [?] writes [1] sites [] : (!v) -> !v
      }
    })mlir");
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  for (PhaseOp phase : phases)
    EXPECT_TRUE(phase.getAwaitedAgain().empty());
  EXPECT_TRUE(llvm::is_contained(phases[0].getSameAgain(), 1));
  EXPECT_EQ(checkAll(program), std::nullopt);
  EXPECT_EQ(findUnproved(program), std::nullopt);
  phases[0].removeAgainSameAfterAttr();
  EXPECT_TRUE(findUnproved(program));
}

/// Of what a worker reads, others made a part in the iteration before: it waits for those alone, of the last phase that
/// touched its elements. These have waited for the phases before.
TEST_F(LoopOrder, EveryWindowBetweenIterationsIsNeeded) {
  ProgramOp program = plan(R"mlir(
    !v = !graph.tensor<[n], f32>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %s = task.buffer arena : !graph.tensor<[2, n], f32>
      %old = task.view %s loop 0 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %new = task.view %s loop 0 shift 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %b = task.buffer arena : !v
      %y = task.buffer output "y" : !v
      task.loop 0 "loop" trips 50 {
        task.phase "inside" after all [] same [] {
          task.space @p(%old) to (%b) sizes [n] tiles n ceildiv 2 scratch 0 reads [4 per 2] writes [4 per 2] sites [] : (!v) -> !v
        }
        task.phase "next" after all [] same [] {
          task.space @q(%b) to (%new) sizes [n] tiles n ceildiv 3 scratch 0 reads [3] writes [3] sites [] : (!v) -> !v
        }
      }
      task.phase "behind" after all [] same [] {
        task.space @p(%old) to (%y) sizes [n] tiles n scratch 0 reads [?] writes [1] sites [] : (!v) -> !v
      }
    })mlir");
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  ASSERT_EQ(std::vector<int64_t>(phases[0].getWindowsAgain()), std::vector<int64_t>{1});
  ASSERT_EQ(std::vector<int64_t>(phases[1].getWindowsAgain()), std::vector<int64_t>{0});
  EXPECT_EQ(checkAll(program), std::nullopt);
  EXPECT_EQ(findUnproved(program), std::nullopt);
  for (PhaseOp phase : {phases[0], phases[1]}) {
    DenseI64ArrayAttr edges = phase.getAgainWindowsAfterAttr();
    phase.removeAgainWindowsAfterAttr();
    EXPECT_TRUE(findUnproved(program));
    // In samples, the window within an iteration orders the same workers as the one of "next".
    EXPECT_EQ(checkAll(program).has_value(), phase == phases[0]);
    phase.setAgainWindowsAfterAttr(edges);
  }
  phases[0].setAgainWindowsAfterAttr(makeEdge(0));
  EXPECT_TRUE(checkAll(program));
  EXPECT_TRUE(findUnproved(program));
}

/// Iterations of a loop with a loop within are in order by edges of phases, as those of others.
TEST_F(LoopOrder, EveryWaitOfALoopAroundIsNeeded) {
  auto planWith = [&](const std::string &readBehind) {
    std::string text = R"mlir(
    !v = !graph.tensor<[n], f32>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %x = task.buffer input "x" : !graph.tensor<[50, n], f32>
      %slice = task.view %x loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      %s = task.buffer output "s" : !graph.tensor<[2, n], f32>
      %old = task.view %s loop 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %new = task.view %s loop 1 shift 1 rotate 2 step 4*n : !graph.tensor<[2, n], f32> -> !v
      %a = task.buffer output "a" : !v
      %y = task.buffer output "y" : !graph.tensor<[50, n], f32>
      %each = task.view %y loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      %z = task.buffer output "z" : !v
      task.loop 0 "outer" trips 50 {
        task.phase "own" after all [] same [] {
          task.space @p(%slice) to (%z) sizes [n] tiles n ceildiv 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> !v
        }
        task.phase "first" after all [] same [] {
          task.space @p(%slice) to (%a) sizes [n] tiles n ceildiv 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> !v
        }
        task.loop 1 "inner" trips k {
          task.phase "step" after all [] same [] {
            task.space @q(%old, %a) to (%new) sizes [n] tiles n ceildiv 3 scratch 0 reads [3, 3] writes [3] sites [] : (!v, !v) -> !v
          }
        }
        task.phase "last" after all [] same [] {
          task.space @p(READ) to (%each) sizes [n] tiles n ceildiv 5 scratch 0 reads [?] writes [5] sites [] : (!v) -> !v
        }
      }
    })mlir";
    return plan(text.replace(text.find("READ"), 4, readBehind));
  };
  ProgramOp program = planWith("%old");
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  auto outer = *program.getOps<LoopOp>().begin(), inner = *outer.getOps<LoopOp>().begin();
  auto expectFault = [&] {
    EXPECT_TRUE(checkAll(program));
    EXPECT_TRUE(findUnproved(program));
  };
  // Who waited for the inner loop behind it knows that nobody reads what "first" writes; "step" comes after "last"
  // since all have finished "first".
  EXPECT_TRUE(outer.getAwaitedAgain().empty());
  for (PhaseOp phase : phases)
    EXPECT_TRUE(phase.getAwaitedAgain().empty());
  ASSERT_EQ(std::vector<int64_t>(inner.getAwaited()), std::vector<int64_t>{1});
  EXPECT_EQ(checkAll(program), std::nullopt);
  EXPECT_EQ(findUnproved(program), std::nullopt);
  inner.removeAllAfterAttr();
  expectFault();

  program = planWith("%slice");
  ASSERT_TRUE(program);
  phases = program.getPhases();
  outer = *program.getOps<LoopOp>().begin();
  inner = *outer.getOps<LoopOp>().begin();
  EXPECT_TRUE(outer.getAwaitedAgain().empty());
  EXPECT_TRUE(phases[0].getAwaitedAgain().empty());
  ASSERT_EQ(std::vector<int64_t>(phases[1].getAwaitedAgain()), std::vector<int64_t>{2});
  EXPECT_EQ(checkAll(program), std::nullopt);
  EXPECT_EQ(findUnproved(program), std::nullopt);
  phases[1].removeAgainAfterAttr();
  expectFault();
}

/// Progress numbers grow from one iteration to the next: who has published one of a side that is not taken is done with
/// the iteration before, too.
TEST_F(LoopOrder, AWaitForASideThatIsNotTakenTellsOfTheIterationBefore) {
  const std::string text = R"mlir(
    !v = !graph.tensor<[n], f32>
    !c = !graph.tensor<[], i1>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %x = task.buffer input "x" : !graph.tensor<[50, n], f32>
      %slice = task.view %x loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      %if = task.buffer input "if" : !c
      %v = task.buffer output "v" : !v
      %w = task.buffer output "w" : !v
      %z = task.buffer output "z" : !v
      %y = task.buffer output "y" : !graph.tensor<[50, n], f32>
      %each = task.view %y loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      task.loop 0 "loop" trips 50 {
        task.branch "if" if %if after all [] : !c {
          THEN
        } else {
          ELSE
        }
        task.phase "middle" after all [] same [] {
          task.space @p(%v) to (%w) sizes [n] tiles n ceildiv 3 scratch 0 reads [MIDDLE] writes [3] sites [] : (!v) -> !v
        }
        task.phase "last" after all [] same [] {
          task.space @q(%w, LAST) to (%each) sizes [n] tiles n ceildiv 2 scratch 0 reads [?, 2] writes [2] sites [] : (!v, !v) -> !v
        }
      }
    })mlir";
  auto planWith = [&](const std::vector<std::pair<std::string, std::string>> &parts) {
    std::string filled = text;
    for (const auto &[name, part] : parts)
      filled.replace(filled.find(name), name.size(), part);
    return plan(filled);
  };
  const std::string makes = R"mlir(
    task.phase "makes" after all [] same [] {
      task.space @p(%slice) to (%v) sizes [n] tiles n ceildiv 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> !v
    })mlir";
  const std::string other = R"mlir(
    task.phase "other" after all [] same [] {
      task.space @p(%slice) to (%v) sizes [n] tiles n ceildiv 3 scratch 0 reads [3] writes [3] sites [] : (!v) -> !v
    })mlir";
  const std::string lasting = R"mlir(
    task.phase "long" after all [] same [] {
      task.space @p(%slice) to (%z) sizes [n] tiles 1 time 90000 scratch 0 reads [?] writes [?] sites [] : (!v) -> !v
    })mlir";
  auto expectNeeded = [&](ProgramOp program, PhaseOp middle) {
    EXPECT_TRUE(middle.getAwaitedAgain().empty());
    EXPECT_EQ(findUnproved(program), std::nullopt);
    EXPECT_EQ(checkAll(program), std::nullopt);
    setAllAfter(middle, {});
    middle.removeTilesAfterAttr();
    EXPECT_TRUE(findUnproved(program));
    EXPECT_TRUE(checkAll(program));
  };
  // The workers that take the other side go on with their own elements.
  ProgramOp program = planWith({{"THEN", makes}, {"ELSE", other}, {"MIDDLE", "3"}, {"LAST", "%slice"}});
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  ASSERT_EQ(std::vector<int64_t>(phases[2].getAllAfter()), std::vector<int64_t>{0});
  ASSERT_EQ(std::vector<int64_t>(phases[2].getSameAfter()), std::vector<int64_t>{1});
  expectNeeded(program, phases[2]);
  // Workers with tiles of "makes" alone are awaited, which have those of "last".
  program = planWith({{"THEN", lasting + makes}, {"ELSE", ""}, {"MIDDLE", "?"}, {"LAST", "%v"}});
  ASSERT_TRUE(program);
  phases = program.getPhases();
  ASSERT_EQ(std::vector<int64_t>(phases[2].getAwaitedTiles()), std::vector<int64_t>{1});
  expectNeeded(program, phases[2]);
}

/// What decides is read by workers without tiles, too, for whom nobody waits that awaits tiles alone.
TEST_F(LoopOrder, AConditionIsOverwrittenWhenAllHaveReadIt) {
  ProgramOp program = plan(R"mlir(
    !v = !graph.tensor<[n], f32>
    !c = !graph.tensor<[], i1>
    task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] {
      %x = task.buffer input "x" : !graph.tensor<[50, n], f32>
      %slice = task.view %x loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      %if = task.buffer output "if" : !c
      %v = task.buffer output "v" : !v
      %z = task.buffer output "z" : !v
      %y = task.buffer output "y" : !graph.tensor<[50, n], f32>
      %each = task.view %y loop 0 step 4*n : !graph.tensor<[50, n], f32> -> !v
      task.loop 0 "loop" trips 50 {
        task.phase "decides" after all [] same [] {
          task.space @p(%slice) to (%if) sizes [n] tiles 1 scratch 0 reads [?] writes [?] sites [] : (!v) -> !c
        }
        task.branch "if" if %if after all [] : !c {
          task.phase "makes" after all [] same [] {
            task.space @p(%slice) to (%v) sizes [n] tiles n ceildiv 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> !v
          }
        } else {
          task.phase "long" after all [] same [] {
            task.space @p(%slice) to (%z) sizes [n] tiles 1 time 90000 scratch 0 reads [?] writes [?] sites [] : (!v) -> !v
          }
          task.phase "other" after all [] same [] {
            task.space @p(%slice) to (%v) sizes [n] tiles n ceildiv 2 scratch 0 reads [2] writes [2] sites [] : (!v) -> !v
          }
        }
        task.phase "last" after all [] same [] {
          task.space @p(%v) to (%each) sizes [n] tiles n ceildiv 3 scratch 0 reads [?] writes [3] sites [] : (!v) -> !v
        }
      }
    })mlir");
  ASSERT_TRUE(program);
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  ASSERT_EQ(std::vector<int64_t>(phases[4].getAwaitedTiles()), (std::vector<int64_t>{1, 3}));
  ASSERT_EQ(std::vector<int64_t>(phases[0].getAwaitedAgain()), std::vector<int64_t>{3});
  EXPECT_EQ(findUnproved(program), std::nullopt);
  n = 1;
  EXPECT_EQ(checkAll(program), std::nullopt);
  phases[0].removeAgainAfterAttr();
  EXPECT_TRUE(findUnproved(program));
  EXPECT_EQ(check(program, 8), "the branch 'if' reads what phase 0 'decides' writes, in no order");
}

TEST_F(LoopOrder, AWaitWithinALoopIsNeeded) {
  ProgramOp program = plan(loop);
  ASSERT_TRUE(program);
  setAllAfter(program.getPhases()[3], {});
  EXPECT_EQ(check(program, 2).value_or("").substr(0, 42), "phase 2 'inside' writes what phase 3 'next");
}

/// An operand made before the loop is read in each iteration, though the text reads it for the last time before the
/// end.
TEST_F(LoopOrder, MemoryOfALoopIsNotTakenBetweenIterations) {
  ProgramOp program = plan(loop);
  ASSERT_TRUE(program);
  for (BufferOp buffer : program.getBuffers())
    if (buffer.getKind() == BufferKind::arena)
      EXPECT_GE(static_cast<int64_t>(*buffer.getFreed()), 4);
  SmallVector<BufferOp, 8> buffers = program.getBuffers();
  // The memory of `a` for `b`, which each iteration writes first.
  buffers[1].setFreedAttr(makeNumber(2));
  buffers[3].setFirstAttr(makeNumber(2));
  EXPECT_TRUE(check(program, 1));
}

} // namespace
