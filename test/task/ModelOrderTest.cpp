// The order of whole models and of their training steps is proved, and removing any edge is detected unless others
// imply it.
#include "compiler/driver/CompileModel.h"
#include "compiler/task/OrderProof.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

struct Model {
  const char *name;
  bool trains;
};

std::vector<int64_t> without(ArrayRef<int64_t> edges, int64_t edge) {
  std::vector<int64_t> others;
  llvm::copy_if(edges, std::back_inserter(others), [&](int64_t other) { return other != edge; });
  return others;
}

/// Whether the edges order phase `later` after phase `earlier`, by waits, of which some are `known` to be implied, or
/// by other `same` edges.
bool isImplied(ArrayRef<PhaseOp> phases, ArrayRef<llvm::BitVector> known, int64_t later, int64_t earlier) {
  return known[later].test(earlier) || llvm::any_of(PhaseOp(phases[later]).getSameAfter(), [&](int64_t before) {
           return before == earlier || (before > earlier && isImplied(phases, known, before, earlier));
         });
}

/// A model of test/models at the task level; with `trains`, one step of its training.
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
    ASSERT_TRUE(succeeded(compilation->import(path, failure))) << failure.text;
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
    EXPECT_EQ(proof.findConflict(), std::nullopt) << program.getSymName().str();
    EXPECT_EQ(proof.findMissingEdge(), std::nullopt) << program.getSymName().str();
  }
}

/// Removes each edge, with memory unchanged. No wait is redundant; a `same` edge may be implied by a wait or by other
/// `same` edges.
TEST_P(ModelOrder, FindsEveryMissingEdge) {
  int64_t waits = 0, sames = 0, redundant = 0;
  for (ProgramOp program : programs) {
    OrderProof proof(program);
    SmallVector<PhaseOp, 8> phases = program.getPhases();
    Builder builder(program.getContext());
    std::vector<llvm::BitVector> known = Execution(program, [](StringRef) { return 1; }, /*way=*/0).getKnown();
    for (auto [index, phase] : llvm::enumerate(phases)) {
      std::vector<int64_t> all(phase.getAllAfter()), same(phase.getSameAfter());
      for (int64_t edge : all) {
        phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(without(all, edge)));
        EXPECT_TRUE(proof.findConflict()) << "without the wait of " << phase.getLabel().str() << " for phase " << edge;
        ++waits;
      }
      phase.setAllAfterAttr(builder.getDenseI64ArrayAttr(all));
      for (int64_t edge : same) {
        phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(without(same, edge)));
        bool isRedundant = isImplied(phases, known, index, edge);
        EXPECT_EQ(proof.findMissingEdge().has_value(), !isRedundant)
            << phase.getLabel().str() << " after same " << edge;
        ++sames;
        redundant += isRedundant;
      }
      phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same));
    }
  }
  llvm::outs() << waits << " waits, none redundant; " << sames << " same edges, " << redundant << " redundant\n";
  EXPECT_GT(waits, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelOrder,
                         testing::Values(Model{"mlp", false}, Model{"cnn", false}, Model{"gpt", false},
                                         Model{"gpt_unoptimized", false}, Model{"mlp", true}, Model{"cnn", true},
                                         Model{"gpt", true}),
                         [](const auto &test) {
                           return std::string(test.param.name) + (test.param.trains ? "_training" : "");
                         });

} // namespace
