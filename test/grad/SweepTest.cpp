// The sweep itself: operators that are differentiated, left alone, or refused.
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/grad/Differentiate.h"
#include "mlir/IR/Verifier.h"
#include "test/grad/GradientCheck.h"

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

class Sweep : public GradientCheck {
protected:
  std::string toText(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  static size_t count(StringRef text, StringRef what) { return text.count(what); }
};

/// The gradients of a value with several uses are summed.
TEST_F(Sweep, Sums) {
  check(
      R"((%x: !graph.tensor<[n], f64>, %y: !graph.tensor<[n], f64>) -> (!graph.tensor<[n], f64>, !graph.tensor<[n], f64>) {
    %a = graph.binary mul %x, %y : !graph.tensor<[n], f64>
    %b = graph.unary sin %a : !graph.tensor<[n], f64>
    %c = graph.binary add %a, %b : !graph.tensor<[n], f64>
    %d = graph.binary mul %c, %x : !graph.tensor<[n], f64>
    return %d, %b : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
  })");
}

/// Nothing is built for unwanted values, and only a constant for values without a path to the loss.
TEST_F(Sweep, OnlyPaths) {
  auto module = parse(R"((%x: !graph.tensor<[n], f32>, %w: !graph.tensor<[n], f32>, %u: !graph.tensor<[n], f32>)
      -> !graph.tensor<[], f32> {
    %a = graph.unary sin %x : !graph.tensor<[n], f32>
    %b = graph.binary mul %a, %w : !graph.tensor<[n], f32>
    %s = graph.reduce add %b axes [0] : !graph.tensor<[n], f32>
    return %s : !graph.tensor<[], f32>
  })");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  Value loss = function.getBody().front().getTerminator()->getOperand(0);
  auto gradients = differentiate(loss, {function.getArgument(1), function.getArgument(2)});
  ASSERT_TRUE(succeeded(gradients));
  std::string text = toText(*module);
  EXPECT_EQ(count(text, "graph.unary cos"), 0u) << text;
  EXPECT_EQ(count(text, "graph.binary"), 1u) << text;
  EXPECT_EQ((*gradients)[0].getDefiningOp()->getName().getStringRef(), "graph.unary") << "times 1 is nothing";
  auto zero = (*gradients)[1].getDefiningOp<graph::ConstantOp>();
  ASSERT_TRUE(zero);
  EXPECT_TRUE(zero.isSplat());
}

/// The seed is the gradient of the loss: gradients are scaled by it.
TEST_F(Sweep, Seed) {
  auto module = parse(R"((%x: !graph.tensor<[n], f64>, %scale: !graph.tensor<[], f64>) -> !graph.tensor<[n], f64> {
    %y = graph.binary mul %x, %x : !graph.tensor<[n], f64>
    %s = graph.reduce add %y axes [0] : !graph.tensor<[n], f64>
    return %y : !graph.tensor<[n], f64>
  })");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  Block &block = function.getBody().front();
  Value loss = block.getTerminator()->getPrevNode()->getResult(0);
  auto gradients = differentiate(loss, {function.getArgument(0)}, function.getArgument(1));
  ASSERT_TRUE(succeeded(gradients));
  block.getTerminator()->setOperands(*gradients);
  auto results = interpret(function, {f64({2}, {3, 5}), f64({}, {1024})}, weights);
  EXPECT_EQ(reals(results->front()), (std::vector<double>{6 * 1024, 10 * 1024}));
}

/// All weights of a name are one value.
TEST_F(Sweep, Weights) {
  weights.addOwned("w", Float64Type::get(&context), {2}, std::vector<char>(16));
  auto module = parse(R"(() -> !graph.tensor<[], f64> {
    %a = graph.weight "w" : !graph.tensor<[2], f64>
    %e = graph.unary exp %a : !graph.tensor<[2], f64>
    %b = graph.weight "w" : !graph.tensor<[2], f64>
    %p = graph.binary add %e, %b : !graph.tensor<[2], f64>
    %s = graph.reduce add %p axes [0] : !graph.tensor<[2], f64>
    return %s : !graph.tensor<[], f64>
  })");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  Operation *end = function.getBody().front().getTerminator();
  auto all = llvm::to_vector(function.getOps<graph::WeightOp>());
  auto gradients = differentiate(end->getOperand(0), {all[1], all[0]});
  ASSERT_TRUE(succeeded(gradients));
  EXPECT_EQ((*gradients)[0], (*gradients)[1]);
  function.setType(FunctionType::get(&context, {}, (*gradients)[0].getType()));
  end->setOperands((*gradients)[0]);
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(reals(interpret(function, {}, weights)->front()), (std::vector<double>{2, 2}));
}

TEST_F(Sweep, Refusals) {
  std::string message =
      getRefusal(R"((%c: !graph.tensor<[], i1>, %h: !graph.tensor<[2], f64>) -> !graph.tensor<[2], f64> {
    %y = graph.while if %c : !graph.tensor<[], i1> carry %h : !graph.tensor<[2], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[2], f64>):
      %next = graph.binary add %state, %state : !graph.tensor<[2], f64>
      graph.yield %c, %next : !graph.tensor<[], i1>, !graph.tensor<[2], f64>
    } -> !graph.tensor<[2], f64> loc("encoder/lstm")
    return %y : !graph.tensor<[2], f64>
  })");
  EXPECT_NE(message.find("'graph.while'"), std::string::npos) << message;
  EXPECT_NE(message.find("node 'encoder/lstm'"), std::string::npos) << message;

  auto module = parse(R"((%x: !graph.tensor<[n], f64>, %i: !graph.tensor<[n], i64>) -> !graph.tensor<[n], f64> {
    return %x : !graph.tensor<[n], f64>
  })");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(differentiate(function.getArgument(0), {function.getArgument(0)})));
  EXPECT_NE(message.find("the loss must be one float"), std::string::npos) << message;
}

/// A call is differentiated through, with the callee's symbols replaced.
TEST_F(Sweep, Call) {
  check(R"((%x: !graph.tensor<[2*n], f64>, %w: !graph.tensor<[n], f64>) -> !graph.tensor<[2*n], f64> {
    %y = graph.call @square(%x) : (!graph.tensor<[2*n], f64>) -> !graph.tensor<[2*n], f64>
    return %y : !graph.tensor<[2*n], f64>
  }
  func.func @square(%x: !graph.tensor<[m], f64>) -> !graph.tensor<[m], f64> {
    %z = graph.constant dense<3.0> : tensor<f64> -> !graph.tensor<[m], f64>
    %y = graph.binary mul %x, %x : !graph.tensor<[m], f64>
    %s = graph.binary mul %y, %z : !graph.tensor<[m], f64>
    return %s : !graph.tensor<[m], f64>
  })");
}

} // namespace

} // namespace freestone::grad
