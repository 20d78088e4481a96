#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class WindowGradient : public GradientCheck {
protected:
  std::string window(const std::string &kind, const std::string &operand, const std::string &result,
                     const std::string &attributes) {
    return "(%x: !graph.tensor<" + operand + ", f64>) -> !graph.tensor<" + result + ", f64> {\n  %y = graph.window " +
           kind + " %x " + attributes + " : !graph.tensor<" + operand + ", f64>\n  return %y : !graph.tensor<" +
           result + ", f64>\n}";
  }
};

TEST_F(WindowGradient, OneDimension) {
  for (const char *kind : {"max", "add"})
    for (int64_t length : {4, 5, 6, 7}) {
      checkAt(
          window(kind, "[n, l]", "[n, (l - 2) floordiv 3 + 1]", "sizes [2] strides [3] dilations [1] low [0] high [0]"),
          {{"n", 3}, {"l", length}});
      checkAt(
          window(kind, "[n, l]", "[n, (l - 1) floordiv 2 + 1]", "sizes [3] strides [2] dilations [1] low [1] high [1]"),
          {{"n", 2}, {"l", length}});
      checkAt(
          window(kind, "[n, l]", "[n, (l - 1) floordiv 3 + 1]", "sizes [3] strides [3] dilations [1] low [1] high [1]"),
          {{"n", 2}, {"l", length}});
      checkAt(window(kind, "[n, l]", "[n, l - 2]", "sizes [2] strides [1] dilations [3] low [0] high [1]"),
              {{"n", 2}, {"l", length}});
    }
}

TEST_F(WindowGradient, TwoDimensions) {
  for (const char *kind : {"max", "add"}) {
    checkAt(window(kind, "[n, c, h, w]", "[n, c, (h - 2) floordiv 2 + 1, w]",
                   "sizes [2, 3] strides [2, 1] dilations [1, 1] low [0, 1] high [0, 1]"),
            {{"n", 2}, {"c", 3}, {"h", 5}, {"w", 4}});
    checkAt(window(kind, "[n, c, h, w]", "[n, c, h - 1, w - 1]",
                   "sizes [1, 1] strides [1, 1] dilations [1, 1] low [-1, 0] high [0, -1]"),
            {{"n", 1}, {"c", 1}, {"h", 3}, {"w", 3}});
  }
}

/// A window of padding alone has no gradient.
TEST_F(WindowGradient, PaddingAlone) {
  for (const char *strides : {"1", "2"}) {
    std::string text =
        "(%x: !graph.tensor<[l], f64>) -> !graph.tensor<[t], f64> {\n  %y = graph.window max %x sizes [2] strides [" +
        std::string(strides) + "] dilations [1] low [2] high [0] : !graph.tensor<[l], f64>\n  %z = " +
        "graph.match_shape %y : !graph.tensor<[" + (*strides == '1' ? "l + 1" : "l floordiv 2 + 1") +
        "], f64> -> !graph.tensor<[t], f64>\n  return %z : !graph.tensor<[t], f64>\n}";
    std::vector<std::vector<double>> gradients = differentiateAt(text, {f64({4}, {1, 4, 3, 2})});
    EXPECT_EQ(gradients.front(),
              *strides == '1' ? (std::vector<double>{1, 2, 1, 0}) : (std::vector<double>{0, 1, 1, 0}));
  }
}

/// As PyTorch's max_pool: the first of equals.
TEST_F(WindowGradient, Ties) {
  std::vector<std::vector<double>> gradients =
      differentiateAt(window("max", "[l]", "[l floordiv 2]", "sizes [2] strides [2] dilations [1] low [0] high [0]"),
                      {f64({6}, {1, 1, 0, 2, 3, 3})});
  EXPECT_EQ(gradients.front(), (std::vector<double>{1, 0, 0, 1, 1, 0}));
}

TEST_F(WindowGradient, Twice) {
  checkTwice(R"((%x: !graph.tensor<[n, 6], f64>) -> !graph.tensor<[n, 3], f64> {
    %e = graph.unary exp %x : !graph.tensor<[n, 6], f64>
    %y = graph.window add %e sizes [2] strides [2] dilations [1] low [0] high [0] : !graph.tensor<[n, 6], f64>
    return %y : !graph.tensor<[n, 3], f64>
  })");
  checkTwice(R"((%x: !graph.tensor<[n, 6], f64>) -> !graph.tensor<[n, 3], f64> {
    %e = graph.unary exp %x : !graph.tensor<[n, 6], f64>
    %y = graph.window max %e sizes [2] strides [2] dilations [1] low [0] high [0] : !graph.tensor<[n, 6], f64>
    return %y : !graph.tensor<[n, 3], f64>
  })");
}

} // namespace

} // namespace freestone::grad
