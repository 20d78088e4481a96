#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class IndexingGradient : public GradientCheck {
protected:
  /// An operator of a float x and indices i, below a size.
  std::string take(const std::string &op, const std::string &from, const std::string &indices, const std::string &below,
                   const std::string &attributes, const std::string &to) {
    return "(%x: !graph.tensor<" + from + ", f64>, %i: !graph.tensor<" + indices + ", i64> {test.below = \"" + below +
           "\"}) -> !graph.tensor<" + to + ", f64> {\n  %y = " + op + " %x, %i " + attributes + " : !graph.tensor<" +
           from + ", f64>, !graph.tensor<" + indices + ", i64>\n  return %y : !graph.tensor<" + to + ", f64>\n}";
  }
  std::string scatter(const std::string &op, const std::string &to, const std::string &indices,
                      const std::string &below, const std::string &attributes, const std::string &updates) {
    return "(%x: !graph.tensor<" + to + ", f64>, %i: !graph.tensor<" + indices + ", i64> {test.below = \"" + below +
           "\"}, %u: !graph.tensor<" + updates + ", f64>) -> !graph.tensor<" + to + ", f64> {\n  %y = " + op +
           " %x, %i, %u " + attributes + " : !graph.tensor<" + to + ", f64>, !graph.tensor<" + indices +
           ", i64>, !graph.tensor<" + updates + ", f64>\n  return %y : !graph.tensor<" + to + ", f64>\n}";
  }
};

TEST_F(IndexingGradient, Gather) {
  check(take("graph.gather", "[v, d]", "[b, s]", "v", "axis 0 batch_dims 0", "[b, s, d]"), /*empty=*/false);
  check(take("graph.gather", "[d, v, e]", "[s]", "v", "axis 1 batch_dims 0", "[d, s, e]"), false);
  check(take("graph.gather", "[d, v, e]", "[]", "v", "axis 1 batch_dims 0", "[d, e]"), false);
  check(take("graph.gather", "[b, v, e]", "[b, s]", "v", "axis 1 batch_dims 1", "[b, s, e]"), false);
  check(take("graph.gather", "[b, d, v]", "[b, s]", "v", "axis 2 batch_dims 1", "[b, d, s]"), false);
  check(take("graph.gather", "[b, c, v]", "[b, c]", "v", "axis 2 batch_dims 2", "[b, c]"), false);
}

TEST_F(IndexingGradient, GatherElements) {
  check(take("graph.gather_elements", "[m, v]", "[m, s]", "v", "axis 1", "[m, s]"), false);
  check(take("graph.gather_elements", "[v, m]", "[s, m]", "v", "axis 0", "[s, m]"), false);
}

TEST_F(IndexingGradient, GatherNd) {
  check(take("graph.gather_nd", "[v, v, d]", "[s, 2]", "v", "batch_dims 0", "[s, d]"), false);
  check(take("graph.gather_nd", "[b, v, d]", "[b, s, 1]", "v", "batch_dims 1", "[b, s, d]"), false);
}

/// More constant indices than constants of another shape may have: the gradient reads them as they are.
TEST_F(IndexingGradient, ManyConstantIndices) {
  std::string indices;
  for (int64_t index = 0; index < 100; ++index)
    indices += (index ? ", " : "") + std::to_string(index * index % 4);
  auto gradients = differentiateAt(
      "(%x: !graph.tensor<[4], f64>) -> !graph.tensor<[100], f64> {\n  %i = graph.constant dense<[" + indices +
          "]> : tensor<100xi64> -> !graph.tensor<[100], i64>\n  %y = graph.gather %x, %i axis 0 batch_dims 0 : "
          "!graph.tensor<[4], f64>, "
          "!graph.tensor<[100], i64>\n  return %y : !graph.tensor<[100], f64>\n}",
      {f64({4}, {1, 2, 3, 4})});
  EXPECT_EQ(gradients.front(), (std::vector<double>{50, 50, 0, 0}));
}

/// Indices that count from the end.
TEST_F(IndexingGradient, NegativeIndices) {
  auto gradients = differentiateAt(take("graph.gather", "[v]", "[s]", "v", "axis 0 batch_dims 0", "[s]"),
                                   {f64({3}, {1, 2, 3}), i64({3}, {-1, 0, 2})});
  EXPECT_EQ(gradients.front(), (std::vector<double>{1, 0, 2}));
}

TEST_F(IndexingGradient, Scatter) {
  check(scatter("graph.scatter_elements add", "[m, v]", "[m, s]", "v", "axis 1", "[m, s]"), false);
  check(scatter("graph.scatter_nd add", "[v, v, d]", "[s, 2]", "v", "", "[s, d]"), false);
  for (std::string kind : {"max", "min"}) {
    check(scatter("graph.scatter_elements " + kind, "[m, v]", "[m, s]", "v", "axis 1", "[m, s]"), false);
    check(scatter("graph.scatter_nd " + kind, "[v, v, d]", "[s, 2]", "v", "", "[s, d]"), false);
  }
  // One update for each element: which of several wins is not differentiable.
  checkAt(scatter("graph.scatter_elements none", "[m, v]", "[m, 1]", "v", "axis 1", "[m, 1]"), {{"m", 3}, {"v", 5}});
  checkAt(scatter("graph.scatter_nd none", "[v, d]", "[1, 1]", "v", "", "[1, d]"), {{"v", 3}, {"d", 5}});
  EXPECT_NE(
      getRefusal(scatter("graph.scatter_elements mul", "[m, v]", "[m, s]", "v", "axis 1", "[m, s]")).find("'mul'"),
      std::string::npos);
}

/// What several updates and an element have in common is shared.
TEST_F(IndexingGradient, ScatterTies) {
  auto gradients = differentiateAt(scatter("graph.scatter_elements max", "[v]", "[s]", "v", "axis 0", "[s]"),
                                   {f64({3}, {2, 1, 5}), i64({4}, {0, 0, 1, 2}), f64({4}, {2, 2, 3, 4})});
  EXPECT_EQ(gradients[0], (std::vector<double>{1. / 3, 0, 1}));
  EXPECT_EQ(gradients[1], (std::vector<double>{1. / 3, 1. / 3, 1, 0}));
}

TEST_F(IndexingGradient, Twice) {
  checkTwice(
      R"((%x: !graph.tensor<[v, d], f64>, %i: !graph.tensor<[s], i64> {test.below = "1"}) -> !graph.tensor<[s, d], f64> {
    %e = graph.unary exp %x : !graph.tensor<[v, d], f64>
    %y = graph.gather %e, %i axis 0 batch_dims 0 : !graph.tensor<[v, d], f64>, !graph.tensor<[s], i64>
    return %y : !graph.tensor<[s, d], f64>
  })");
}

} // namespace

} // namespace freestone::grad
