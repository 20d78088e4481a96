#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class ReductionGradient : public GradientCheck {
protected:
  std::string reduce(const std::string &kind, const std::string &axes, const std::string &result) {
    return "(%x: !graph.tensor<[m, n, k], f64>) -> !graph.tensor<" + result + ", f64> {\n  %y = graph.reduce " + kind +
           " %x axes " + axes + " : !graph.tensor<[m, n, k], f64>\n  return %y : !graph.tensor<" + result + ", f64>\n}";
  }
  std::string cumulate(const std::string &kind, const std::string &options) {
    return "(%x: !graph.tensor<[m, n], f64>) -> !graph.tensor<[m, n], f64> {\n  %y = graph.cumulate " + kind + " %x " +
           options + " : !graph.tensor<[m, n], f64>\n  return %y : !graph.tensor<[m, n], f64>\n}";
  }
  std::vector<double> at(const std::string &text, std::vector<int64_t> dims, std::vector<double> x) {
    return differentiateAt(text, {f64(dims, x)}).front();
  }
  using Values = std::vector<double>;
};

TEST_F(ReductionGradient, Reduce) {
  for (const char *kind : {"add", "mul"}) {
    check(reduce(kind, "[1]", "[m, k]"));
    check(reduce(kind, "[0, 2]", "[n]"));
    check(reduce(kind, "[0, 1, 2]", "[]"));
  }
  for (const char *kind : {"max", "min"}) {
    check(reduce(kind, "[1]", "[m, k]"));
    // The extremum of no elements is infinite, and its weighted sum undefined.
    check(reduce(kind, "[0, 2]", "[n]"), /*empty=*/false);
  }
}

TEST_F(ReductionGradient, ProductsWithZeros) {
  EXPECT_EQ(at(reduce("mul", "[0, 1, 2]", "[]"), {1, 3, 1}, {2, 0, 5}), Values({0, 10, 0}));
  EXPECT_EQ(at(reduce("mul", "[0, 1, 2]", "[]"), {1, 3, 1}, {0, 0, 5}), Values({0, 0, 0}));
  EXPECT_EQ(at(cumulate("mul", "axis 1"), {1, 3}, {2, 0, 5}), Values({1, 12, 0}));
}

/// As PyTorch's amax: ties share the gradient.
TEST_F(ReductionGradient, Ties) {
  EXPECT_EQ(at(reduce("max", "[1]", "[m, k]"), {1, 4, 1}, {1, 3, 3, 2}), Values({0, 0.5, 0.5, 0}));
  EXPECT_EQ(at(reduce("min", "[1]", "[m, k]"), {1, 4, 1}, {3, 3, 3, 3}), Values({0.25, 0.25, 0.25, 0.25}));
}

TEST_F(ReductionGradient, Cumulate) {
  for (const char *kind : {"add", "mul", "max", "min"})
    for (const char *options : {"axis 0", "axis 1", "axis 1 reverse"})
      check(cumulate(kind, options));
  for (const char *kind : {"add", "mul"})
    for (const char *options : {"axis 0 exclusive", "axis 1 exclusive reverse"})
      check(cumulate(kind, options));
}

TEST_F(ReductionGradient, Twice) {
  checkTwice(reduce("add", "[1]", "[m, k]"));
  checkTwice(cumulate("add", "axis 1"));
  checkTwice(R"((%x: !graph.tensor<[m, n], f64>) -> !graph.tensor<[m], f64> {
    %y = graph.unary exp %x : !graph.tensor<[m, n], f64>
    %s = graph.reduce add %y axes [1] : !graph.tensor<[m, n], f64>
    %l = graph.unary log %s : !graph.tensor<[m], f64>
    return %l : !graph.tensor<[m], f64>
  })");
}

} // namespace

} // namespace freestone::grad
