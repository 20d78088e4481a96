#include "compiler/dialect/graph/GraphDialect.h"
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

/// A recurrence with weights, a bias and a scale: of what is carried, scanned and taken from outside.
TEST_F(ControlFlowGradient, Scan) {
  check(R"((%x: !graph.tensor<[t, b, m], f64>, %h: !graph.tensor<[b, n], f64>, %w: !graph.tensor<[n, m], f64>,
            %r: !graph.tensor<[n, n], f64>, %bias: !graph.tensor<[n], f64>, %scale: !graph.tensor<[b, n], f64>)
      -> (!graph.tensor<[b, n], f64>, !graph.tensor<[t, b, n], f64>) {
    %last, %all = graph.scan carry %h : !graph.tensor<[b, n], f64> over %x : !graph.tensor<[t, b, m], f64> {
    ^bb0(%state: !graph.tensor<[b, n], f64>, %slice: !graph.tensor<[b, m], f64>):
      %u = graph.contract %slice, %w batch [] x [] contract [1] x [1] : !graph.tensor<[b, m], f64>, !graph.tensor<[n, m], f64>
      %v = graph.contract %state, %r batch [] x [] contract [1] x [0] : !graph.tensor<[b, n], f64>, !graph.tensor<[n, n], f64>
      %wide = graph.broadcast %bias dims [1] : !graph.tensor<[n], f64> -> !graph.tensor<[b, n], f64>
      %s = graph.binary add %u, %v : !graph.tensor<[b, n], f64>
      %p = graph.binary add %s, %wide : !graph.tensor<[b, n], f64>
      %q = graph.binary mul %p, %scale : !graph.tensor<[b, n], f64>
      %next = graph.unary tanh %q : !graph.tensor<[b, n], f64>
      graph.yield %next, %next : !graph.tensor<[b, n], f64>, !graph.tensor<[b, n], f64>
    } -> !graph.tensor<[b, n], f64>, !graph.tensor<[t, b, n], f64>
    return %last, %all : !graph.tensor<[b, n], f64>, !graph.tensor<[t, b, n], f64>
  })");
}

/// What the first differentiation lets a scan keep has a gradient in the second one.
TEST_F(ControlFlowGradient, ScanTwice) {
  checkTwice(R"((%x: !graph.tensor<[t, n], f64>, %h: !graph.tensor<[n], f64>, %r: !graph.tensor<[n, n], f64>)
      -> (!graph.tensor<[n], f64>, !graph.tensor<[t, n], f64>) {
    %last, %all = graph.scan carry %h : !graph.tensor<[n], f64> over %x : !graph.tensor<[t, n], f64> {
    ^bb0(%state: !graph.tensor<[n], f64>, %slice: !graph.tensor<[n], f64>):
      %v = graph.contract %state, %r batch [] x [] contract [0] x [0] : !graph.tensor<[n], f64>, !graph.tensor<[n, n], f64>
      %s = graph.binary add %v, %slice : !graph.tensor<[n], f64>
      %next = graph.unary tanh %s : !graph.tensor<[n], f64>
      graph.yield %next, %v : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>, !graph.tensor<[t, n], f64>
    return %last, %all : !graph.tensor<[n], f64>, !graph.tensor<[t, n], f64>
  })");
}

/// A scan within a scan, and a branch within it.
TEST_F(ControlFlowGradient, NestedScans) {
  check(
      R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[t, s, n], f64>, %h: !graph.tensor<[n], f64>, %k: !graph.tensor<[n], f64>)
      -> !graph.tensor<[t, n], f64> {
    %last, %all = graph.scan carry %h : !graph.tensor<[n], f64> over %x : !graph.tensor<[t, s, n], f64> {
    ^bb0(%state: !graph.tensor<[n], f64>, %slice: !graph.tensor<[s, n], f64>):
      %inner = graph.scan carry %state : !graph.tensor<[n], f64> over %slice : !graph.tensor<[s, n], f64> {
      ^bb0(%deep: !graph.tensor<[n], f64>, %element: !graph.tensor<[n], f64>):
        %a = graph.if %c {
          %p = graph.binary mul %deep, %k : !graph.tensor<[n], f64>
          graph.yield %p : !graph.tensor<[n], f64>
        } else {
          %p = graph.unary sin %deep : !graph.tensor<[n], f64>
          graph.yield %p : !graph.tensor<[n], f64>
        } : !graph.tensor<[], i1> -> !graph.tensor<[n], f64>
        %b = graph.binary add %a, %element : !graph.tensor<[n], f64>
        %d = graph.unary tanh %b : !graph.tensor<[n], f64>
        graph.yield %d : !graph.tensor<[n], f64>
      } -> !graph.tensor<[n], f64>
      %sum = graph.binary add %inner, %k : !graph.tensor<[n], f64>
      graph.yield %inner, %sum : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>, !graph.tensor<[t, n], f64>
    return %all : !graph.tensor<[t, n], f64>
  })");
}

/// A loop that data end before its limit: states, what is collected, and what comes from outside.
TEST_F(ControlFlowGradient, Loops) {
  std::string text =
      R"((%x: !graph.tensor<[n], f64>, %w: !graph.tensor<[n], f64>) -> (!graph.tensor<[n], f64>, !graph.tensor<[], f64>) {
    %limit = graph.constant dense<6> : tensor<i64> -> !graph.tensor<[], i64>
    %most = graph.constant dense<3.0> : tensor<f64> -> !graph.tensor<[], f64>
    %one = graph.constant dense<1.0> : tensor<f64> -> !graph.tensor<[], f64>
    %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[], f64>
    %r, %count, %all = graph.while max %limit : !graph.tensor<[], i64> carry %x, %zero : !graph.tensor<[n], f64>, !graph.tensor<[], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f64>, %done: !graph.tensor<[], f64>):
      %product = graph.binary mul %state, %w : !graph.tensor<[n], f64>
      %next = graph.unary tanh %product : !graph.tensor<[n], f64>
      %more = graph.binary add %done, %one : !graph.tensor<[], f64>
      %goes = graph.compare lt %more, %most : !graph.tensor<[], f64>
      graph.yield %goes, %next, %more, %product : !graph.tensor<[], i1>, !graph.tensor<[n], f64>, !graph.tensor<[], f64>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>, !graph.tensor<[], f64>, !graph.tensor<[trips, n], f64>
    %e = graph.unary exp %all : !graph.tensor<[trips, n], f64>
    %s = graph.reduce add %e axes [0, 1] : !graph.tensor<[trips, n], f64>
    return %r, %s : !graph.tensor<[n], f64>, !graph.tensor<[], f64>
  })";
  check(text);
}

/// What is carried grows by what is put behind it, before it, and by what is computed of all of it; data end the loop.
static const char *const growing =
    R"((%x: !graph.tensor<[n], f64>, %cache: !graph.tensor<[m, n], f64>, %w: !graph.tensor<[n, n], f64>, %first: !graph.tensor<[m], f64>)
      -> (!graph.tensor<[n], f64>, !graph.tensor<[], f64>) {
    %limit = graph.constant dense<5> : tensor<i64> -> !graph.tensor<[], i64>
    %most = graph.constant dense<3.0> : tensor<f64> -> !graph.tensor<[], f64>
    %one = graph.constant dense<1.0> : tensor<f64> -> !graph.tensor<[], f64>
    %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[], f64>
    %r:6 = graph.while max %limit : !graph.tensor<[], i64> carry %x, %cache, %first, %first, %zero
        : !graph.tensor<[n], f64>, !graph.tensor<[m, n], f64>, !graph.tensor<[m], f64>, !graph.tensor<[m], f64>, !graph.tensor<[], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f64>, %keys: !graph.tensor<[m + i, n], f64>,
         %early: !graph.tensor<[m + 2*i], f64>, %all: !graph.tensor<[m + i], f64>, %done: !graph.tensor<[], f64>):
      %query = graph.contract %state, %w batch [] x [] contract [0] x [0] : !graph.tensor<[n], f64>, !graph.tensor<[n, n], f64>
      %row = graph.reshape %query : !graph.tensor<[n], f64> -> !graph.tensor<[1, n], f64>
      %longer = graph.concat %keys, %row axis 0 : !graph.tensor<[m + i, n], f64>, !graph.tensor<[1, n], f64>
      %scores = graph.contract %longer, %state batch [] x [] contract [1] x [0] : !graph.tensor<[m + i + 1, n], f64>, !graph.tensor<[n], f64>
      %shares = graph.softmax %scores axis 0 : !graph.tensor<[m + i + 1], f64>
      %seen = graph.contract %shares, %longer batch [] x [] contract [0] x [0] : !graph.tensor<[m + i + 1], f64>, !graph.tensor<[m + i + 1, n], f64>
      %next = graph.unary tanh %seen : !graph.tensor<[n], f64>
      %sum = graph.reduce add %next axes [0] : !graph.tensor<[n], f64>
      %number = graph.reshape %sum : !graph.tensor<[], f64> -> !graph.tensor<[1], f64>
      %earlier = graph.concat %number, %early, %number axis 0 : !graph.tensor<[1], f64>, !graph.tensor<[m + 2*i], f64>, !graph.tensor<[1], f64>
      %other = graph.unary sin %all : !graph.tensor<[m + i], f64>
      %joined = graph.concat %other, %number axis 0 : !graph.tensor<[m + i], f64>, !graph.tensor<[1], f64>
      %more = graph.binary add %done, %one : !graph.tensor<[], f64>
      %goes = graph.compare lt %more, %most : !graph.tensor<[], f64>
      graph.yield %goes, %next, %longer, %earlier, %joined, %more, %query : !graph.tensor<[], i1>, !graph.tensor<[n], f64>, !graph.tensor<[m + i + 1, n], f64>,
        !graph.tensor<[m + 2*i + 2], f64>, !graph.tensor<[m + i + 1], f64>, !graph.tensor<[], f64>, !graph.tensor<[n], f64>
    } {trip = #sym.expr<i>, trips = #sym.expr<trips>} -> !graph.tensor<[n], f64>, !graph.tensor<[m + trips, n], f64>, !graph.tensor<[m + 2*trips], f64>, !graph.tensor<[m + trips], f64>, !graph.tensor<[], f64>, !graph.tensor<[trips, n], f64>
    %e0 = graph.unary exp %r#1 : !graph.tensor<[m + trips, n], f64>
    %s0 = graph.reduce add %e0 axes [0, 1] : !graph.tensor<[m + trips, n], f64>
    %e1 = graph.unary exp %r#2 : !graph.tensor<[m + 2*trips], f64>
    %s1 = graph.reduce add %e1 axes [0] : !graph.tensor<[m + 2*trips], f64>
    %e2 = graph.unary sin %r#3 : !graph.tensor<[m + trips], f64>
    %s2 = graph.reduce add %e2 axes [0] : !graph.tensor<[m + trips], f64>
    %e3 = graph.unary exp %r#5 : !graph.tensor<[trips, n], f64>
    %s3 = graph.reduce add %e3 axes [0, 1] : !graph.tensor<[trips, n], f64>
    %a = graph.binary mul %s0, %s1 : !graph.tensor<[], f64>
    %b = graph.binary mul %s2, %s3 : !graph.tensor<[], f64>
    %c = graph.binary add %a, %b : !graph.tensor<[], f64>
    return %r#0, %c : !graph.tensor<[n], f64>, !graph.tensor<[], f64>
  })";

TEST_F(ControlFlowGradient, GrowingLoops) { check(growing); }

TEST_F(ControlFlowGradient, GrowingLoopsTwice) { checkTwice(growing); }

/// The same gradients where products are computed again in the backward pass.
TEST_F(ControlFlowGradient, Recomputed) {
  std::string text = growing;
  size_t body = text.find("    %limit = ");
  text.insert(text.rfind("{", body), "attributes {grad.recomputes} ");
  check(text);
}

/// Of a cache of which nothing but the last value is needed, nothing is kept.
TEST_F(ControlFlowGradient, KeptOfGrowingLoops) {
  auto module = parse(growing);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  makeLoss(function);
  ASSERT_TRUE(succeeded(addGradients(function)));
  auto loop = *function.getOps<graph::WhileOp>().begin();
  // The state, what is computed of all of it, the count; the products.
  EXPECT_EQ(loop.getNumCollected(), 1u + 3u + 3u);
}

/// A size that each iteration finds anew, in a loop whose sizes follow the number of the iteration.
TEST_F(ControlFlowGradient, SizesWithinLoops) {
  check(R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[], f64> {
    %limit = graph.constant dense<5> : tensor<i64> -> !graph.tensor<[], i64>
    %goes = graph.constant dense<1> : tensor<i1> -> !graph.tensor<[], i1>
    %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[n + i], f64>):
      %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[n + i], f64>
      %above = graph.compare gt %state, %zero : !graph.tensor<[n + i], f64>
      %some = graph.compress %state, %above axis 0 : !graph.tensor<[n + i], f64>, !graph.tensor<[n + i], i1> -> !graph.tensor<[k], f64>
      %curve = graph.unary sin %some : !graph.tensor<[k], f64>
      %sum = graph.reduce add %curve axes [0] : !graph.tensor<[k], f64>
      %one = graph.reshape %sum : !graph.tensor<[], f64> -> !graph.tensor<[1], f64>
      %next = graph.concat %state, %one axis 0 : !graph.tensor<[n + i], f64>, !graph.tensor<[1], f64>
      graph.yield %goes, %next : !graph.tensor<[], i1>, !graph.tensor<[n + i + 1], f64>
    } {trip = #sym.expr<i>, trips = #sym.expr<5>} -> !graph.tensor<[n + 5], f64>
    %e = graph.reduce add %r axes [0] : !graph.tensor<[n + 5], f64>
    return %e : !graph.tensor<[], f64>
  })");
}

/// The same in the branches of a scan's steps, whose products with what comes from outside have such sizes.
static const char *const sizedSteps =
    R"((%x: !graph.tensor<[t, n], f64>, %h: !graph.tensor<[m], f64>, %w: !graph.tensor<[n, m], f64>,
            %c: !graph.tensor<[], i1>) -> (!graph.tensor<[m], f64>, !graph.tensor<[t, m], f64>) {
    %last, %all = graph.scan carry %h : !graph.tensor<[m], f64> over %x : !graph.tensor<[t, n], f64> {
    ^bb0(%state: !graph.tensor<[m], f64>, %slice: !graph.tensor<[n], f64>):
      %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[n], f64>
      %above = graph.compare gt %slice, %zero : !graph.tensor<[n], f64>
      %some = graph.compress %slice, %above axis 0 : !graph.tensor<[n], f64>, !graph.tensor<[n], i1> -> !graph.tensor<[k], f64>
      %rows = graph.compress %w, %above axis 0 : !graph.tensor<[n, m], f64>, !graph.tensor<[n], i1> -> !graph.tensor<[l, m], f64>
      %p = graph.contract %rows, %state batch [] x [] contract [1] x [0] : !graph.tensor<[l, m], f64>, !graph.tensor<[m], f64>
      %q = graph.if %c {
        %below = graph.compare lt %slice, %zero : !graph.tensor<[n], f64>
        %others = graph.compress %slice, %below axis 0 : !graph.tensor<[n], f64>, !graph.tensor<[n], i1> -> !graph.tensor<[o], f64>
        %s = graph.unary exp %others : !graph.tensor<[o], f64>
        graph.yield %s : !graph.tensor<[o], f64>
      } else {
        graph.yield %some : !graph.tensor<[k], f64>
      } : !graph.tensor<[], i1> -> !graph.tensor<[joined], f64>
      %u = graph.reduce add %q axes [0] : !graph.tensor<[joined], f64>
      %v = graph.reduce add %p axes [0] : !graph.tensor<[l], f64>
      %z = graph.binary mul %u, %v : !graph.tensor<[], f64>
      %y = graph.broadcast %z dims [] : !graph.tensor<[], f64> -> !graph.tensor<[m], f64>
      %sum = graph.binary add %y, %state : !graph.tensor<[m], f64>
      %next = graph.unary tanh %sum : !graph.tensor<[m], f64>
      graph.yield %next, %next : !graph.tensor<[m], f64>, !graph.tensor<[m], f64>
    } -> !graph.tensor<[m], f64>, !graph.tensor<[t, m], f64>
    return %last, %all : !graph.tensor<[m], f64>, !graph.tensor<[t, m], f64>
  })";

TEST_F(ControlFlowGradient, SizesWithinSteps) { check(sizedSteps); }

TEST_F(ControlFlowGradient, SizesWithinStepsTwice) { checkTwice(sizedSteps); }

/// Sizes that a slice would write in another way.
TEST_F(ControlFlowGradient, NumbersOfSteps) {
  check(R"((%x: !graph.tensor<[k, n], f64>, %h: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %numbers = graph.iota 0 : !graph.tensor<[k - min(k, 2*(k floordiv 2))], i64>
    %last, %all = graph.scan carry %h : !graph.tensor<[n], f64> over %numbers : !graph.tensor<[k - min(k, 2*(k floordiv 2))], i64> {
    ^bb0(%state: !graph.tensor<[n], f64>, %number: !graph.tensor<[], i64>):
      %row = graph.gather %x, %number axis 0 batch_dims 0 : !graph.tensor<[k, n], f64>, !graph.tensor<[], i64>
      %sum = graph.binary add %row, %state : !graph.tensor<[n], f64>
      %next = graph.unary sin %sum : !graph.tensor<[n], f64>
      graph.yield %next, %next : !graph.tensor<[n], f64>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>, !graph.tensor<[k - min(k, 2*(k floordiv 2)), n], f64>
    %sum = graph.reduce add %all axes [0] : !graph.tensor<[k - min(k, 2*(k floordiv 2)), n], f64>
    %both = graph.binary add %sum, %last : !graph.tensor<[n], f64>
    return %both : !graph.tensor<[n], f64>
  })");
}

TEST_F(ControlFlowGradient, Refusals) {
  std::string sized = R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[], f64> {
    %limit = graph.constant dense<5> : tensor<i64> -> !graph.tensor<[], i64>
    %goes = graph.constant dense<1> : tensor<i1> -> !graph.tensor<[], i1>
    %r = graph.while max %limit : !graph.tensor<[], i64> carry %x : !graph.tensor<[n], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[s], f64>):
      %next = graph.concat %state, %state axis 0 : !graph.tensor<[s], f64>, !graph.tensor<[s], f64>
      graph.yield %goes, %next : !graph.tensor<[], i1>, !graph.tensor<[2*s], f64>
    } -> !graph.tensor<[l], f64>
    %e = graph.reduce add %r axes [0] : !graph.tensor<[l], f64>
    return %e : !graph.tensor<[], f64>
  })";
  EXPECT_NE(getRefusal(sized).find("sizes in it depend on data"), std::string::npos);
  EXPECT_NE(getRefusal(R"((%c: !graph.tensor<[], i1>, %x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %r = graph.while carry %x : !graph.tensor<[n], f64> {
    ^bb0(%i: !graph.tensor<[], i64>, %state: !graph.tensor<[n], f64>):
      %next = graph.binary mul %state, %state : !graph.tensor<[n], f64>
      graph.yield %c, %next : !graph.tensor<[], i1>, !graph.tensor<[n], f64>
    } -> !graph.tensor<[n], f64>
    return %r : !graph.tensor<[n], f64>
  })")
                .find("data decide when it ends"),
            std::string::npos);
}

} // namespace

} // namespace freestone::grad
