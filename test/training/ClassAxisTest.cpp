// The class axis of a model's output.
#include "compiler/step/ModelLoss.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace freestone::step {

namespace {

class ClassAxisTest : public testing::Test {
protected:
  ClassAxisTest() {
    DialectRegistry registry;
    graph::registerGraphDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The loss of an output of this shape, or the reason of a refusal.
  llvm::FailureOr<ModelLoss> build(const std::string &shape, const LossChoice &choice) {
    std::string type = "!graph.tensor<" + shape + ", f32>";
    module = parseSourceString<ModuleOp>("func.func @main(%x: " + type + " {graph.name = \"x\"}) -> (" + type +
                                             " {graph.name = \"logits\"}) { return %x : " + type + " }",
                                         &context);
    StepFunction function(module->lookupSymbol<func::FuncOp>("main"));
    WeightStore weights;
    error.clear();
    return buildModelLoss(function, choice, weights, error);
  }

  /// The labels' sizes, -1 if they vary; empty: unknown shape.
  void expectAxis(const std::string &shape, ArrayRef<int64_t> labels, int64_t axis,
                  std::optional<int64_t> given = std::nullopt) {
    SCOPED_TRACE(shape);
    LossChoice choice;
    choice.labelShape.assign(labels.begin(), labels.end());
    choice.classAxis = given;
    auto built = build(shape, choice);
    ASSERT_TRUE(succeeded(built)) << error;
    EXPECT_EQ(built->classAxis, axis);
  }

  void expectRefused(const std::string &shape, ArrayRef<int64_t> labels, ArrayRef<const char *> parts) {
    SCOPED_TRACE(shape);
    LossChoice choice;
    choice.labelShape.assign(labels.begin(), labels.end());
    EXPECT_TRUE(failed(build(shape, choice)));
    for (const char *part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << error;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string error;
};

TEST_F(ClassAxisTest, TheOnlyOneThatTheLabelsFit) {
  expectAxis("[n, 10]", {-1}, 1);
  expectAxis("[b, s, 128]", {-1, 64}, 2);
  expectAxis("[n, 7, 28, 28]", {-1, 28, 28}, 1);
  expectAxis("[n, 28, 28, 7]", {-1, 28, 28}, 3);
  expectAxis("[4, 10]", {-1}, 1);
  // Even where it varies.
  expectAxis("[n, c]", {-1}, 1);
}

TEST_F(ClassAxisTest, OfSeveralTheOnlyConstant) {
  // Labels as long as there are classes, and labels of which only the rank is known.
  expectAxis("[b, s, 128]", {-1, 128}, 2);
  expectAxis("[b, s, 128]", {-1, -1}, 2);
  expectAxis("[n, 10, w]", {-1, 10}, 1);
  expectAxis("[n, 10, h, w]", {-1, 10, 10}, 1);
  expectAxis("[n, h, w, 10]", {-1, 10, 10}, 3);
}

TEST_F(ClassAxisTest, NothingIsKnownOfTheLabels) {
  expectAxis("[n, c]", {}, 1);
  expectAxis("[b, s, 128]", {}, 2);
  expectAxis("[n, 10, w]", {}, 1);
  expectAxis("[n, 10, h, w]", {}, 1);
  expectAxis("[n, h, w, 10]", {}, 3);
  // The first dimension counts samples, whatever its size.
  expectAxis("[4, 10, w]", {}, 1);
}

TEST_F(ClassAxisTest, RefusesToGuess) {
  expectRefused("[n, 28, 28, 28]", {-1, 28, 28}, {"[n, 28, 28, 28]", "more than one", "--class-axis"});
  expectRefused("[n, c, w]", {-1, 12}, {"more than one", "--class-axis"});
  expectRefused("[n, 10, 32, 32]", {}, {"more than one", "--class-axis"});
  expectRefused("[n, h, w]", {}, {"more than one", "--class-axis"});
  expectRefused("[n, 10]", {-1, 4}, {"labels have 2 dimensions", "no dimension", "--class-axis"});
  expectRefused("[10]", {}, {"no dimension", "--class-axis"});
}

TEST_F(ClassAxisTest, TheUserDecides) {
  expectAxis("[n, 28, 28, 28]", {-1, 28, 28}, 2, 2);
  expectAxis("[n, c, w]", {-1, 12}, 1, 1);
  expectAxis("[n, 10, 32, 32]", {}, 3, -1);
  expectAxis("[10, n]", {}, 0, 0);
  LossChoice choice;
  choice.classAxis = 2;
  EXPECT_TRUE(failed(build("[n, 10]", choice)));
  EXPECT_NE(error.find("--class-axis"), std::string::npos) << error;
}

} // namespace

} // namespace freestone::step
