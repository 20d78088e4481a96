#include "compiler/dialect/graph/GraphDialect.h"
#include "test/grad/GradientCheck.h"

using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

class ElementwiseGradient : public GradientCheck {
protected:
  std::string unary(const std::string &kind, const std::string &range = "[-1.0, 1.0]") {
    return "(%x: !graph.tensor<[m, n], f64> {test.range = " + range + "}) -> !graph.tensor<[m, n], f64> {\n" +
           "  %y = graph.unary " + kind + " %x : !graph.tensor<[m, n], f64>\n" +
           "  return %y : !graph.tensor<[m, n], f64>\n}";
  }
  std::string binary(const std::string &kind, const std::string &left = "[-1.0, 1.0]",
                     const std::string &right = "[-1.0, 1.0]") {
    return "(%x: !graph.tensor<[m, n], f64> {test.range = " + left +
           "}, %y: !graph.tensor<[m, n], f64> {test.range = " + right + "}) -> !graph.tensor<[m, n], f64> {\n" +
           "  %z = graph.binary " + kind + " %x, %y : !graph.tensor<[m, n], f64>\n" +
           "  return %z : !graph.tensor<[m, n], f64>\n}";
  }
  /// kind(x, number) or kind(number, x).
  std::string withNumber(const std::string &kind, const std::string &number, bool numberFirst = false) {
    return "(%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {\n  %c = graph.constant dense<" + number +
           "> : tensor<f64> -> !graph.tensor<[n], f64>\n  %z = graph.binary " + kind +
           (numberFirst ? " %c, %x" : " %x, %c") +
           " : !graph.tensor<[n], f64>\n  return %z : !graph.tensor<[n], f64>\n}";
  }
  std::vector<double> at(const std::string &text, std::vector<double> x) {
    return differentiateAt(text, {f64({static_cast<int64_t>(x.size())}, x)}).front();
  }
  std::vector<double> at(const std::string &text, double x, double y) {
    std::vector<std::vector<double>> gradients = differentiateAt(text, {f64({1, 1}, {x}), f64({1, 1}, {y})});
    return {gradients[0][0], gradients[1][0]};
  }
  using Values = std::vector<double>;
};

TEST_F(ElementwiseGradient, Unary) {
  for (const char *kind : {"abs", "neg", "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh",
                           "asinh", "erf", "floor", "ceil", "round", "trunc", "sign"})
    check(unary(kind));
  for (const char *kind : {"log", "log1p", "sqrt", "rsqrt", "reciprocal"})
    check(unary(kind, "[0.5, 2.0]"));
  for (const char *kind : {"asin", "acos", "atanh"})
    check(unary(kind, "[-0.8, 0.8]"));
  check(unary("acosh", "[1.2, 3.0]"));
  check(unary("reciprocal", "[-2.0, -0.5]"));
}

TEST_F(ElementwiseGradient, Binary) {
  for (const char *kind : {"add", "sub", "mul", "max", "min", "atan2"})
    check(binary(kind));
  check(binary("div", "[-1.0, 1.0]", "[0.5, 2.0]"));
  check(binary("pow", "[0.5, 2.0]", "[-2.0, 2.0]"));
  for (const char *kind : {"rem", "mod"}) {
    check(binary(kind, "[0.1, 0.4]", "[0.5, 1.0]"));
    check(binary(kind, "[-1.9, -1.1]", "[1.0, 1.05]"));
  }
}

TEST_F(ElementwiseGradient, Numbers) {
  for (const char *exponent : {"0.0", "1.0", "2.0", "3.0", "4.0"})
    check(withNumber("pow", exponent));
  check(withNumber("pow", "2.0", true));
  check(withNumber("max", "0.1"));
  check(withNumber("min", "0.1", true));
  check(withNumber("div", "3.0"));
}

TEST_F(ElementwiseGradient, OneOperandTwice) {
  for (const char *kind : {"add", "sub", "mul", "div", "pow", "max"})
    check("(%x: !graph.tensor<[n], f64> {test.range = [0.5, 2.0]}) -> !graph.tensor<[n], f64> {\n  %z = graph.binary " +
          std::string(kind) + " %x, %x : !graph.tensor<[n], f64>\n  return %z : !graph.tensor<[n], f64>\n}");
}

TEST_F(ElementwiseGradient, SelectAndCast) {
  check(R"((%c: !graph.tensor<[m, n], i1>, %x: !graph.tensor<[m, n], f64>, %y: !graph.tensor<[m, n], f64>)
      -> !graph.tensor<[m, n], f64> {
    %z = graph.select %c, %x, %y : !graph.tensor<[m, n], i1>, !graph.tensor<[m, n], f64>
    return %z : !graph.tensor<[m, n], f64>
  })");
  check(R"((%c: !graph.tensor<[n], i1>, %x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %y = graph.unary sin %x : !graph.tensor<[n], f64>
    %z = graph.select %c, %y, %y : !graph.tensor<[n], i1>, !graph.tensor<[n], f64>
    %w = graph.barrier %z : !graph.tensor<[n], f64>
    return %w : !graph.tensor<[n], f64>
  })");
  // The derivative through a narrower type is that of the wide type.
  EXPECT_EQ(at(R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f32> {
    %y = graph.cast %x to f32 : !graph.tensor<[n], f64>
    %z = graph.binary mul %y, %y : !graph.tensor<[n], f32>
    return %z : !graph.tensor<[n], f32>
  })",
               {3, 0.5}),
            Values({6, 1}));
}

/// Integers and comparisons have no gradient.
TEST_F(ElementwiseGradient, NothingThroughIntegers) {
  EXPECT_EQ(at(R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %i = graph.cast %x to i64 : !graph.tensor<[n], f64>
    %f = graph.cast %i to f64 : !graph.tensor<[n], i64>
    %z = graph.binary mul %f, %x : !graph.tensor<[n], f64>
    return %z : !graph.tensor<[n], f64>
  })",
               {3.5, -2.5}),
            Values({3, -2}));
}

/// PyTorch's derivatives at kinks.
TEST_F(ElementwiseGradient, Kinks) {
  auto vector = [&](const std::string &kind) {
    return "(%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {\n  %z = graph.unary " + kind +
           " %x : !graph.tensor<[n], f64>\n  return %z : !graph.tensor<[n], f64>\n}";
  };
  EXPECT_EQ(at(vector("abs"), {-2, 0, 3}), Values({-1, 0, 1}));
  EXPECT_EQ(at(vector("sign"), {-2, 0, 3}), Values({0, 0, 0}));
  // torch.relu
  EXPECT_EQ(at(withNumber("max", "0.0"), {-1, 0, 2}), Values({0, 0, 1}));
  EXPECT_EQ(at(withNumber("max", "0.0", true), {-1, 0, 2}), Values({0, 0, 1}));
  // torch.clamp(min=1), torch.clamp(max=1)
  EXPECT_EQ(at(withNumber("max", "1.0"), {0, 1, 2}), Values({0, 1, 1}));
  EXPECT_EQ(at(withNumber("min", "1.0"), {0, 1, 2}), Values({1, 1, 0}));
  // torch.clamp(0, 6)
  EXPECT_EQ(at(R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %lo = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[], f64>
    %low = graph.broadcast %lo dims [] : !graph.tensor<[], f64> -> !graph.tensor<[n], f64>
    %high = graph.constant dense<6.0> : tensor<f64> -> !graph.tensor<[n], f64>
    %y = graph.binary max %x, %low : !graph.tensor<[n], f64>
    %z = graph.binary min %y, %high : !graph.tensor<[n], f64>
    return %z : !graph.tensor<[n], f64>
  })",
               {-1, 0, 3, 6, 7}),
            Values({0, 1, 1, 1, 0}));
  // torch.maximum, torch.minimum
  EXPECT_EQ(at(binary("max"), 2, 2), Values({0.5, 0.5}));
  EXPECT_EQ(at(binary("min"), 2, 2), Values({0.5, 0.5}));
  EXPECT_EQ(at(binary("max"), 2, 3), Values({0, 1}));
  EXPECT_EQ(at(binary("min"), 2, 3), Values({1, 0}));
  // torch.pow: nothing at exponent 0, no logarithm of 0
  EXPECT_EQ(at(binary("pow"), 0, 0), Values({0, 0}));
  EXPECT_EQ(at(binary("pow"), 0, 2), Values({0, 0}));
  EXPECT_EQ(at(withNumber("pow", "2.0"), {0, 3}), Values({0, 6}));
}

/// torch.linalg.vector_norm: 0 at the origin.
TEST_F(ElementwiseGradient, Norm) {
  std::string norm = R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[1], f64> {
    %q = graph.binary mul %x, %x : !graph.tensor<[n], f64>
    %s = graph.reduce add %q axes [0] : !graph.tensor<[n], f64>
    %k = graph.reshape %s : !graph.tensor<[], f64> -> !graph.tensor<[1], f64>
    %r = graph.unary sqrt %k : !graph.tensor<[1], f64>
    return %r : !graph.tensor<[1], f64>
  })";
  check(norm, /*empty=*/false);
  EXPECT_EQ(at(norm, {0, 0}), Values({0, 0}));
  EXPECT_EQ(at(norm, {0, 2}), Values({0, 1}));
}

/// A bias with many narrow gradients: their sum is f32.
TEST_F(ElementwiseGradient, NarrowSums) {
  auto module = parse(R"((%b: !graph.tensor<[], bf16>, %x: !graph.tensor<[n], bf16>) -> !graph.tensor<[], bf16> {
    %r = graph.broadcast %b dims [] : !graph.tensor<[], bf16> -> !graph.tensor<[n], bf16>
    %p = graph.binary mul %r, %x : !graph.tensor<[n], bf16>
    %s = graph.reduce add %p axes [0] : !graph.tensor<[n], bf16>
    return %s : !graph.tensor<[], bf16>
  })");
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  ASSERT_TRUE(succeeded(addGradients(function)));
  bool sumsInF32 = false;
  function.walk([&](graph::ReduceOp sum) { sumsInF32 |= sum.getType().getElementType().isF32(); });
  EXPECT_TRUE(sumsInF32);
}

/// With an infinite exponential, the sigmoid's derivative is 0, not 0 times infinity.
TEST_F(ElementwiseGradient, SigmoidFarOut) {
  std::string sigmoid = R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %one = graph.constant dense<1.0> : tensor<f64> -> !graph.tensor<[n], f64>
    %t = graph.unary neg %x : !graph.tensor<[n], f64>
    %e = graph.unary exp %t : !graph.tensor<[n], f64>
    %d = graph.binary add %one, %e : !graph.tensor<[n], f64>
    %y = graph.binary div %one, %d : !graph.tensor<[n], f64>
    return %y : !graph.tensor<[n], f64>
  })";
  check(sigmoid);
  EXPECT_EQ(at(sigmoid, {-1000, 0, 1000}), Values({0, 0.25, 0}));
}

/// At 0 both parts have a kink, the sum has none.
TEST_F(ElementwiseGradient, Softplus) {
  std::string softplus = R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %zero = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[n], f64>
    %r = graph.binary max %x, %zero : !graph.tensor<[n], f64>
    %a = graph.unary abs %x : !graph.tensor<[n], f64>
    %m = graph.unary neg %a : !graph.tensor<[n], f64>
    %e = graph.unary exp %m : !graph.tensor<[n], f64>
    %l = graph.unary log1p %e : !graph.tensor<[n], f64>
    %y = graph.binary add %r, %l : !graph.tensor<[n], f64>
    return %y : !graph.tensor<[n], f64>
  })";
  check(softplus);
  checkTwice(softplus);
  EXPECT_EQ(at(softplus, {-1000, 0, 1000}), Values({0, 0.5, 1}));
}

TEST_F(ElementwiseGradient, Twice) {
  for (const char *kind : {"exp", "sin", "tanh", "erf", "sinh", "atan"})
    checkTwice(unary(kind));
  for (const char *kind : {"log", "sqrt", "rsqrt", "reciprocal"})
    checkTwice(unary(kind, "[0.5, 2.0]"));
  for (const char *kind : {"mul", "sub"})
    checkTwice(binary(kind));
  checkTwice(binary("div", "[-1.0, 1.0]", "[0.5, 2.0]"));
  checkTwice(binary("pow", "[0.5, 2.0]", "[-2.0, 2.0]"));
  checkTwice(withNumber("pow", "3.0"));
}

} // namespace

} // namespace freestone::grad
