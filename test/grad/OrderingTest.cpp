#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

using OrderingGradient = GradientCheck;

TEST_F(OrderingGradient, TopK) {
  check(R"((%x: !graph.tensor<[m, n + 2], f64>, %z: !graph.tensor<[n], f64> {test.fixed})
      -> !graph.tensor<[m, 2], f64> {
    %v, %i = graph.top_k %x axis 1 k <2> : !graph.tensor<[m, n + 2], f64>
    return %v : !graph.tensor<[m, 2], f64>
  })");
  check(R"((%x: !graph.tensor<[n, m], f64>) -> !graph.tensor<[n, m], f64> {
    %v, %i = graph.top_k %x axis 0 k <n> smallest : !graph.tensor<[n, m], f64>
    return %v : !graph.tensor<[n, m], f64>
  })");
}

TEST_F(OrderingGradient, Sort) {
  check(R"((%x: !graph.tensor<[m, n], f64>) -> !graph.tensor<[m, n], f64> {
    %v, %i = graph.sort %x axis 1 : !graph.tensor<[m, n], f64>
    %w, %j = graph.sort %v axis 0 descending : !graph.tensor<[m, n], f64>
    return %w : !graph.tensor<[m, n], f64>
  })");
}

TEST_F(OrderingGradient, Compress) {
  std::string compress = R"((%x: !graph.tensor<[m, n], f64>, %c: !graph.tensor<[n], i1>) -> !graph.tensor<[m], f64> {
    %y = graph.compress %x, %c axis 1 : !graph.tensor<[m, n], f64>, !graph.tensor<[n], i1> -> !graph.tensor<[m, t], f64>
    %z = graph.binary mul %y, %y : !graph.tensor<[m, t], f64>
    %s = graph.reduce add %z axes [1] : !graph.tensor<[m, t], f64>
    return %s : !graph.tensor<[m], f64>
  })";
  check(compress);
  auto gradients = differentiateAt(compress, {f64({1, 4}, {1, 2, 3, 4}), i1({4}, {0, 1, 0, 1})});
  EXPECT_EQ(gradients.front(), (std::vector<double>{0, 4, 0, 8}));
}

TEST_F(OrderingGradient, Unique) {
  std::string message = getRefusal(R"((%x: !graph.tensor<[n], f64>) -> !graph.tensor<[t], f64> {
    %v, %f, %i, %c = graph.unique %x axis 0 sorted : !graph.tensor<[n], f64>
        -> !graph.tensor<[t], f64>, !graph.tensor<[t], i64>, !graph.tensor<[n], i64>, !graph.tensor<[t], i64>
    return %v : !graph.tensor<[t], f64>
  })");
  EXPECT_NE(message.find("'graph.unique'"), std::string::npos) << message;
}

} // namespace

} // namespace freestone::grad
