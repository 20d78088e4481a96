// The order of whole models and of their training steps, loops and branches included, is proved for all sizes and
// sampled for up to 8 workers, and removing any edge is detected unless others imply it.
#include "compiler/driver/CompileModel.h"
#include "compiler/task/OrderProof.h"
#include "mlir/IR/Builders.h"
#include "test/import/TextModel.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

struct Model {
  const char *name;
  bool trains;
  /// ONNX's text; null: a file of test/models.
  const char *text = nullptr;
};

/// A loop that data end, over a state, a cache that grows, and what is computed of all of it; a branch within it, and a
/// loop within one of its sides.
const char *const loops = R"(
  nested (float[n, 2] x) => (float[n, 2] logits)
    <float[2, 2] w = {0.5, -0.25, 0.75, 0.5}, float[2, 2] v = {1.0, 0.5, -0.5, 0.25}, int64[1] one = {1}, int64 most = {12},
     int64 few = {3}, float level = {0.1}> {
    first = Unsqueeze(x, one)
    trace0 = ReduceSum<keepdims = 1>(x, one)
    h, cache, trace = Loop(most, , x, first, trace0) <body = again
      (int64 i, bool c, float[n, 2] s, float[n, t, 2] old, float[n, t] marks)
        => (bool goes, float[n, 2] next, float[n, u, 2] longer, float[n, u] marked) {
      q = MatMul(s, w)
      row = Unsqueeze(q, one)
      longer = Concat<axis = 1>(old, row)
      seen = ReduceMean<keepdims = 0>(longer, one)
      size = ReduceMean<keepdims = 0>(q)
      isLarge = Greater(size, level)
      next = If(isLarge) <then_branch = large () => (float[n, 2] a) {
          b = Add(seen, s)
          a = Tanh(b)
        }, else_branch = small () => (float[n, 2] d) {
          d, unused = Loop(few, , seen, level) <body = inner
            (int64 j, bool e, float[n, 2] f, float part) => (bool on, float[n, 2] g, float grown) {
              k = MatMul(f, v)
              g = Sin(k)
              amount = ReduceMean<keepdims = 0>(g)
              grown = Add(part, amount)
              on = Less(grown, level)
            }>
        }>
      mark = ReduceSum<keepdims = 1>(next, one)
      faded = Sin(marks)
      marked = Concat<axis = 1>(faded, mark)
      mean = ReduceMean<keepdims = 0>(next)
      goes = Greater(mean, level)
    }>
    of_cache = ReduceMean<keepdims = 0>(cache, one)
    of_trace = ReduceSum<keepdims = 1>(trace, one)
    sum = Add(h, of_cache)
    all = Add(sum, of_trace)
    logits = MatMul(all, v)
  })";

const char *const recurrent = R"(
  layers (float[t, n, 2] x) => (float[n, 2] logits)
    <float[1, 8, 2] w = {0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, -0.4, 0.4, 0.3, 0.2, 0.1, 0.1, 0.2, 0.3, 0.4},
     float[1, 8, 2] r = {0.1, 0.2, 0.3, 0.4, -0.1, -0.2, -0.3, -0.4, 0.4, 0.3, 0.2, 0.1, 0.1, 0.2, 0.3, 0.4},
     float[2, 2] v = {1.0, 0.5, -0.5, 0.25}, int64[1] zero = {0}> {
    y, h, c = LSTM<hidden_size = 2>(x, w, r)
    last = Squeeze(h, zero)
    logits = MatMul(last, v)
  })";

/// What is carried grows by as many elements as data say.
const char *const byData = R"(
  chosen (float[n] x) => (float[m] y) <int64 most = {7}, float level = {0.1}> {
    y = Loop(most, , x) <body = again (int64 i, bool c, float[k] s) => (bool goes, float[l] longer) {
      above = Greater(s, level)
      some = Compress<axis = 0>(s, above)
      half = Mul(some, level)
      longer = Concat<axis = 0>(s, half)
      size = ReduceSum<keepdims = 0>(half)
      goes = Greater(size, level)
    }>
  })";

/// A part of each iteration needs nothing of the one before, and writes memory that has two slices.
const char *const ahead = R"(
  ahead (float[t, n, 64] x, float[n, 64] h, float[64, 64] w, float[64, 64] v) => (float[n, 64] y, float[t, n, 64] all) {
    y, all = Scan<num_scan_inputs = 1, body = step (float[n, 64] p, float[n, 64] s) => (float[n, 64] r, float[n, 64] u) {
      k = MatMul(s, v)
      g = Tanh(k)
      j = MatMul(p, w)
      o = Add(j, g)
      r = Tanh(o)
      u = Sin(g)
    }>(h, x)
  })";

/// Blocks that data leave out, on either side of a branch, and whose operands stay where they lie then.
const char *const blocks = R"(
  blocks (float[n, 64] x, float[64, 64] w, bool a, bool b, bool c) => (float[n, 64] y) {
    s = Tanh(x)
    first = If(a) <then_branch = make () => (float[n, 64] made) {
        product = MatMul(s, w)
        made = Add(product, s)
      }, else_branch = keep () => (float[n, 64] kept) {
        kept = Identity(s)
      }>
    second = If(b) <then_branch = keepSecond () => (float[n, 64] keptSecond) {
        keptSecond = Identity(first)
      }, else_branch = makeSecond () => (float[n, 64] madeSecond) {
        productSecond = MatMul(first, w)
        madeSecond = Tanh(productSecond)
      }>
    third = If(c) <then_branch = makeThird () => (float[n, 64] madeThird) {
        madeThird = MatMul(second, w)
      }, else_branch = keepThird () => (float[n, 64] keptThird) {
        keptThird = Identity(second)
      }>
    y = Sin(third)
  })";

std::vector<int64_t> without(ArrayRef<int64_t> edges, int64_t edge) {
  std::vector<int64_t> others;
  llvm::copy_if(edges, std::back_inserter(others), [&](int64_t other) { return other != edge; });
  return others;
}

/// The runs of a program in which every two decisions fall out in each combination, and what is known in each step.
struct Runs {
  explicit Runs(ProgramOp program) {
    for (const Decisions &decisions : Decisions::cover(program)) {
      executions.emplace_back(
          program, [](StringRef) { return 3; }, decisions);
      known.push_back(executions.back().getKnown());
    }
  }

  /// Whether edges order a phase, wherever it is executed, after an earlier one, or one of the iteration before: waits,
  /// or other `same` edges.
  bool areOrdered(PhaseOp later, int64_t earlier, bool again = false) const {
    for (auto [execution, done] : llvm::zip_equal(executions, known))
      for (auto [number, step] : llvm::enumerate(execution.getSteps())) {
        int64_t from = step.op != later ? -1 : again ? execution.getBegin(number) : number;
        int64_t before = from < 0 ? -1 : execution.getLatest(earlier, from);
        if (before >= 0 && !isImplied(execution, done, number, before))
          return false;
      }
    return true;
  }

private:
  static bool isImplied(const Execution &execution, ArrayRef<llvm::BitVector> known, int64_t later, int64_t earlier) {
    SmallVector<int64_t> reached = {later};
    llvm::BitVector seen(known.size());
    while (!reached.empty()) {
      int64_t number = reached.pop_back_val();
      if (number == earlier || known[number].test(earlier))
        return true;
      auto phase = dyn_cast<PhaseOp>(execution.getSteps()[number].op);
      if (!phase)
        continue;
      auto reach = [&](ArrayRef<int64_t> edges, int64_t from) {
        for (int64_t edge : edges)
          if (int64_t before = execution.getLatest(edge, from); before >= earlier && !seen.test(before)) {
            seen.set(before);
            reached.push_back(before);
          }
      };
      reach(phase.getSameAfter(), number);
      reach(phase.getAwaitedWindows(), number);
      if (int64_t begin = execution.getBegin(number); begin >= 0) {
        reach(phase.getSameAgain(), begin);
        reach(phase.getWindowsAgain(), begin);
      }
    }
    return false;
  }

  std::vector<Execution> executions;
  std::vector<std::vector<llvm::BitVector>> known;
};

/// A model of test/models, or of a text, at the task level; with `trains`, one step of its training.
class ModelOrder : public testing::TestWithParam<Model> {
protected:
  void SetUp() override {
    driver::Options options;
    options.jobs = 1;
    if (GetParam().trains)
      options.training =
          R"({"loss": {"kind": "softmax-cross-entropy", "labels": "y"}, "optimizer": {"kind": "adamw"}})";
    compilation = std::make_unique<driver::Compilation>(options);
    driver::Failure failure;
    std::string path = FREESTONE_TEST_MODELS + std::string("/") + GetParam().name + ".onnx";
    if (GetParam().text) {
      std::string bytes = test::serialize(GetParam().text);
      path = testing::TempDir() + "/" + GetParam().name + std::to_string(getpid()) + ".onnx";
      std::ofstream(path, std::ios::binary) << bytes;
    }
    ASSERT_TRUE(succeeded(compilation->import(path, failure))) << failure.text;
    if (GetParam().text)
      std::filesystem::remove(path);
    ASSERT_TRUE(succeeded(compilation->lower(failure))) << failure.text;
    ModuleOp module = compilation->getModel().module.get();
    programs = llvm::to_vector(module.getOps<ProgramOp>());
    ASSERT_FALSE(programs.empty());
  }

  std::unique_ptr<driver::Compilation> compilation;
  SmallVector<ProgramOp> programs;
};

TEST_P(ModelOrder, IsProved) {
  for (ProgramOp program : programs) {
    OrderProof proof(program);
    EXPECT_EQ(proof.getRuns(), program.getSymbols().empty() ? 1 : 5) << program.getSymName().str();
    EXPECT_EQ(proof.findUnproved(), std::nullopt) << program.getSymName().str();
    EXPECT_EQ(proof.findConflict(), std::nullopt) << program.getSymName().str();
    EXPECT_EQ(proof.findMissingEdge(), std::nullopt) << program.getSymName().str();
  }
}

/// Removes each edge, with memory unchanged; of a long program, whose layers are alike, those of a third of its phases. No wait
/// is redundant, nor is a window for all sizes and deals; a `same` edge may be implied by a wait or by other `same` edges.
TEST_P(ModelOrder, FindsEveryMissingEdge) {
  int64_t waits = 0, windows = 0, needed = 0, sames = 0, redundant = 0;
  for (ProgramOp program : programs) {
    // Few workers are enough to find them.
    OrderProof proof(program, /*mostWorkers=*/4);
    Builder builder(program.getContext());
    Runs runs(program);
    auto expectFault = [&](StringRef label, StringRef kind, int64_t edge) {
      EXPECT_TRUE(proof.findConflict()) << "without the wait of " << label.str() << " for " << kind.str() << " "
                                        << edge;
      EXPECT_TRUE(proof.findUnproved()) << "without the wait of " << label.str() << " for " << kind.str() << " "
                                        << edge;
      ++waits;
    };
    program.walk([&](BranchOp branch) {
      std::vector<int64_t> all(branch.getAllAfter());
      for (int64_t edge : all) {
        branch.setAllAfterAttr(builder.getDenseI64ArrayAttr(without(all, edge)));
        expectFault(branch.getLabel(), "phase", edge);
      }
      branch.setAllAfterAttr(builder.getDenseI64ArrayAttr(all));
    });
    program.walk([&](LoopOp loop) {
      std::vector<int64_t> all(loop.getAwaited()), again(loop.getAwaitedAgain());
      if (!all.empty()) {
        loop.removeAllAfterAttr();
        expectFault(loop.getLabel(), "phase", all.front());
        loop.setAllAfter(all);
      }
      if (!again.empty()) {
        loop.removeAgainAfterAttr();
        expectFault(loop.getLabel(), "the iteration before", again.front());
        loop.setAgainAfter(again);
      }
    });
    SmallVector<PhaseOp> phases = llvm::to_vector(program.getPhases());
    std::mt19937 random(1);
    for (PhaseOp phase : phases) {
      if (phases.size() > 100 && random() % 3)
        continue;
      std::vector<int64_t> again(phase.getAwaitedAgain()), narrowAgain(phase.getWindowsAgain()),
          sameAgain(phase.getSameAgain());
      for (int64_t edge : again) {
        phase.setAgainAfter(without(again, edge));
        expectFault(phase.getLabel(), "phase of the iteration before", edge);
      }
      if (!again.empty())
        phase.setAgainAfter(again);
      for (int64_t edge : narrowAgain) {
        phase.setAgainWindowsAfter(without(narrowAgain, edge));
        EXPECT_TRUE(proof.findUnproved())
            << "without the window of " << phase.getLabel().str() << " for phase " << edge << " of the iteration before";
        ++windows;
        needed += proof.findConflict().has_value();
      }
      if (!narrowAgain.empty())
        phase.setAgainWindowsAfter(narrowAgain);
      for (int64_t edge : sameAgain) {
        phase.setAgainSameAfter(without(sameAgain, edge));
        bool isRedundant = runs.areOrdered(phase, edge, /*again=*/true);
        EXPECT_EQ(proof.findUnproved().has_value(), !isRedundant)
            << phase.getLabel().str() << " after same " << edge << " of the iteration before";
        ++sames;
        redundant += isRedundant;
      }
      if (!sameAgain.empty())
        phase.setAgainSameAfter(sameAgain);
      std::vector<int64_t> all(phase.getAllAfter()), tiles(phase.getAwaitedTiles()), same(phase.getSameAfter()),
          narrow(phase.getAwaitedWindows());
      for (int64_t edge : all) {
        phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(without(all, edge)));
        expectFault(phase.getLabel(), "phase", edge);
      }
      phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(all));
      for (int64_t edge : tiles) {
        phase.setTilesAfter(without(tiles, edge));
        expectFault(phase.getLabel(), "tiles of phase", edge);
      }
      if (!tiles.empty())
        phase.setTilesAfter(tiles);
      for (int64_t edge : narrow) {
        phase.setWindowsAfter(without(narrow, edge));
        // In samples, other windows often order the same workers.
        EXPECT_TRUE(proof.findUnproved())
            << "without the window of " << phase.getLabel().str() << " for phase " << edge;
        ++windows;
        needed += proof.findConflict().has_value();
      }
      if (!narrow.empty())
        phase.setWindowsAfter(narrow);
      for (int64_t edge : same) {
        phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(without(same, edge)));
        bool isRedundant = runs.areOrdered(phase, edge);
        EXPECT_EQ(proof.findMissingEdge().has_value(), !isRedundant)
            << phase.getLabel().str() << " after same " << edge;
        EXPECT_EQ(proof.findUnproved().has_value(), !isRedundant) << phase.getLabel().str() << " after same " << edge;
        ++sames;
        redundant += isRedundant;
      }
      phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same));
    }
  }
  llvm::outs() << waits << " waits, none redundant; " << windows << " windows, " << needed << " needed in samples; " << sames << " same edges, " << redundant << " redundant\n";
  EXPECT_GT(waits + windows, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelOrder,
                         testing::Values(Model{"mlp", false}, Model{"cnn", false}, Model{"gpt", false},
                                         Model{"gpt_unoptimized", false}, Model{"mlp", true}, Model{"cnn", true},
                                         Model{"gpt", true}, Model{"nested_loops", false, loops},
                                         Model{"nested_loops", true, loops}, Model{"recurrent", false, recurrent},
                                         Model{"recurrent", true, recurrent}, Model{"sizes_by_data", false, byData}, Model{"blocks", false, blocks}, Model{"ahead", false, ahead}),
                         [](const auto &test) {
                           return std::string(test.param.name) + (test.param.trains ? "_training" : "");
                         });

} // namespace
