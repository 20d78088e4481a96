#include "compiler/frontend/FrontendGraph.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

using namespace freestone;
using namespace freestone::frontend;

namespace {

class FrontendGraphTest : public testing::Test {
protected:
  FrontendGraphTest() { context.loadDialect<graph::GraphDialect, sym::SymDialect, mlir::func::FuncDialect>(); }

  size_t input(FrontendGraph &graph, llvm::ArrayRef<llvm::StringRef> shape, llvm::StringRef type = "f32") {
    FrontendGraph::Result number = graph.addInput("x", type, shape, "");
    EXPECT_TRUE(number) << graph.takeReason();
    return number.value_or(0);
  }

  std::string text(const llvm::json::Value &value) {
    std::string printed;
    llvm::raw_string_ostream(printed) << value;
    return printed;
  }

  /// The reason for which an operation is refused.
  std::string refusal(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> shape, llvm::StringRef attributes) {
    FrontendGraph graph(&context);
    int64_t x = input(graph, shape);
    EXPECT_TRUE(graph.apply(name, {x}, attributes, "").empty());
    return graph.takeReason();
  }

  mlir::MLIRContext context;
};

TEST_F(FrontendGraphTest, BuildsAFunctionOfSymbolicSizes) {
  FrontendGraph graph(&context);
  graph.declareSymbol("n", {2, 100});
  int64_t x = input(graph, {"n", "3"});
  std::vector<size_t> doubled = graph.apply("add", {x, x}, "", "twice");
  ASSERT_EQ(doubled.size(), 1u) << graph.takeReason();
  std::vector<size_t> flat = graph.apply("reshape", {static_cast<int64_t>(doubled[0])}, R"({"shape": ["3*n"]})", "");
  ASSERT_EQ(flat.size(), 1u) << graph.takeReason();
  EXPECT_EQ(text(graph.describe(flat[0])), R"(["f32",["3*n"]])");
  ASSERT_TRUE(graph.addOutput("y", flat[0]));
  std::string complaint;
  mlir::FailureOr<ImportedModel> model = graph.finish(complaint);
  ASSERT_TRUE(succeeded(model)) << complaint;
  auto main = *model->module->getOps<mlir::func::FuncOp>().begin();
  EXPECT_TRUE(main->hasAttr("graph.symbols"));
  EXPECT_EQ(main.getResultAttrOfType<mlir::StringAttr>(0, "graph.name").getValue(), "y");
}

TEST_F(FrontendGraphTest, OperationsMayHaveSeveralResults) {
  FrontendGraph graph(&context);
  int64_t x = input(graph, {"4", "9"});
  std::vector<size_t> found = graph.apply("top_k", {x}, R"({"k": 2, "axis": -1, "largest": true})", "");
  ASSERT_EQ(found.size(), 2u) << graph.takeReason();
  EXPECT_EQ(text(graph.describe(found[1])), R"(["i64",[4,2]])");
}

TEST_F(FrontendGraphTest, AnInputMayBeASize) {
  FrontendGraph graph(&context);
  ASSERT_TRUE(graph.addInput("n", "i64", {}, "n"));
  std::vector<size_t> made = graph.apply("splat", {}, R"({"value": "-inf", "type": "f32", "shape": ["n", 2]})", "");
  ASSERT_EQ(made.size(), 1u) << graph.takeReason();
  EXPECT_EQ(text(graph.describe(made[0])), R"(["f32",["n",2]])");
}

TEST_F(FrontendGraphTest, AnInputThatIsASizeHasItsDeclaredBounds) {
  FrontendGraph graph(&context);
  graph.declareSymbol("n", {-7, 9});
  ASSERT_TRUE(graph.addInput("n", "i64", {}, "n"));
  std::vector<size_t> number = graph.apply("size", {}, R"({"value": "n + 1", "type": "f32"})", "");
  ASSERT_EQ(number.size(), 1u) << graph.takeReason();
  ASSERT_TRUE(graph.addOutput("y", number[0]));
  std::string complaint, symbols;
  mlir::FailureOr<ImportedModel> model = graph.finish(complaint);
  ASSERT_TRUE(succeeded(model)) << complaint;
  llvm::raw_string_ostream(symbols) << (*model->module->getOps<mlir::func::FuncOp>().begin())->getAttr("graph.symbols");
  EXPECT_NE(symbols.find("-7"), std::string::npos) << symbols;
}

TEST_F(FrontendGraphTest, StatesAreUpdated) {
  FrontendGraph graph(&context);
  FrontendGraph::Result weight = graph.addState("w", "f32", {2, 2});
  ASSERT_TRUE(weight);
  std::vector<size_t> next = graph.apply("neg", {static_cast<int64_t>(*weight)}, "", "");
  ASSERT_EQ(next.size(), 1u);
  EXPECT_TRUE(graph.updateState("w", next[0]));
  EXPECT_FALSE(graph.updateState("v", next[0]));
  EXPECT_EQ(graph.takeReason(), "there is no state 'v'");
  std::string complaint;
  EXPECT_TRUE(succeeded(graph.finish(complaint))) << complaint;
}

TEST_F(FrontendGraphTest, InvalidCallsAreRefusedWithAReason) {
  EXPECT_EQ(refusal("fold", {"4"}, ""), "'fold' is no operation");
  EXPECT_EQ(refusal("select", {"4"}, ""), "'select' takes 3 operands, not 1");
  EXPECT_EQ(refusal("reduce", {"4"}, R"({"kind": "add", "axes": [1]})"), "'reduce' has an axis 1 beyond the rank 1");
  EXPECT_EQ(refusal("reduce", {"4"}, R"({"kind": "most", "axes": [0]})"), "'reduce' knows no kind 'most'");
  EXPECT_EQ(refusal("cast", {"4"}, R"({"type": "f8"})"), "'cast' has elements of type 'f8', which are not supported");
  EXPECT_EQ(refusal("transpose", {"4", "5"}, R"({"permutation": [0, 0]})"),
            "'transpose' needs a permutation of the operand's axes");
  EXPECT_EQ(refusal("exp", {"4"}, "[]"), "the attributes of 'exp' are no JSON object");
  EXPECT_NE(refusal("reshape", {"4"}, R"({"shape": [5]})"), "");
  EXPECT_NE(refusal("reshape", {"4"}, R"({"shape": ["2*"]})"), "");
  EXPECT_NE(refusal("convolve", {"4"}, "{}"), "");
}

TEST_F(FrontendGraphTest, WrongInputsAreRefused) {
  FrontendGraph graph(&context);
  EXPECT_FALSE(graph.addInput("x", "c64", {"4"}, ""));
  EXPECT_EQ(graph.takeReason(), "'x' has elements of type c64, which are not supported");
  EXPECT_FALSE(graph.addInput("x", "f32", {"4 +"}, ""));
  EXPECT_FALSE(graph.addConstant("f32", {2}, llvm::ArrayRef<char>("abc", 3)));
  EXPECT_FALSE(graph.addOutput("y", 7));
  EXPECT_TRUE(graph.apply("exp", {12}, "", "").empty());
}

} // namespace
