#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

using ControlFlowGradient = GradientCheck;

TEST_F(ControlFlowGradient, If) {
  check(R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f64>, %y: !graph.tensor<[n], f64>)
      -> (!graph.tensor<[n], f64>, !graph.tensor<[n], f64>) {
    %e = graph.unary sin %x : !graph.tensor<[n], f64>
    %r, %s = graph.if %c {
      %a = graph.binary mul %e, %y : !graph.tensor<[n], f64>
      %b = graph.softmax %a axis 0 : !graph.tensor<[n], f64>
      graph.yield %b, %x : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    } else {
      %a = graph.binary add %e, %x : !graph.tensor<[n], f64>
      graph.yield %a, %a : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    } : !graph.tensor<[], i1> -> !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    %t = graph.binary mul %r, %x : !graph.tensor<[n], f64>
    return %t, %s : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
  })");
}

/// Both branches are taken, whatever is drawn.
TEST_F(ControlFlowGradient, Branches) {
  std::string text = R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %r = graph.if %c {
      %a = graph.binary mul %x, %x : !graph.tensor<[n], f64>
      graph.yield %a : !graph.tensor<[n], f64>
    } else {
      %a = graph.unary neg %x : !graph.tensor<[n], f64>
      graph.yield %a : !graph.tensor<[n], f64>
    } : !graph.tensor<[], i1> -> !graph.tensor<[n], f64>
    return %r : !graph.tensor<[n], f64>
  })";
  EXPECT_EQ(differentiateAt(text, {i1({}, {1}), f64({2}, {3, 4})}).front(), (std::vector<double>{6, 8}));
  EXPECT_EQ(differentiateAt(text, {i1({}, {0}), f64({2}, {3, 4})}).front(), (std::vector<double>{-1, -1}));
}

/// The size of the result is known only after the join.
TEST_F(ControlFlowGradient, SizesOfBranches) {
  check(R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f64>) -> !graph.tensor<[], f64> {
    %r = graph.if %c {
      %a = graph.concat %x, %x axis 0 : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
      graph.yield %a : !graph.tensor<[2*n], f64>
    } else {
      graph.yield %x : !graph.tensor<[n], f64>
    } : !graph.tensor<[], i1> -> !graph.tensor<[m], f64>
    %e = graph.unary exp %r : !graph.tensor<[m], f64>
    %s = graph.reduce add %e axes [0] : !graph.tensor<[m], f64>
    return %s : !graph.tensor<[], f64>
  })");
}

TEST_F(ControlFlowGradient, Refusals) {
  EXPECT_NE(getRefusal(R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %three = graph.constant dense<3> : tensor<i64> -> !graph.tensor<[], i64>
    %r = graph.while max %three : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f64>):
      %next = graph.binary mul %state, %state : !graph.tensor<[n], f64>
      graph.yield %c, %next : !graph.tensor<[], i1>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>
    return %r : !graph.tensor<[n], f64>
  })")
                .find("unroll it in the model"),
            std::string::npos);
}

} // namespace

} // namespace freestone::grad
