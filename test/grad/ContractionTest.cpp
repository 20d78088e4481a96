#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class ContractionGradient : public GradientCheck {
protected:
  std::string contract(const std::string &lhs, const std::string &rhs, const std::string &dims,
                       const std::string &result) {
    return "(%x: !graph.tensor<" + lhs + ", f64>, %y: !graph.tensor<" + rhs + ", f64>) -> !graph.tensor<" + result +
           ", f64> {\n  %z = graph.contract %x, %y " + dims + " : !graph.tensor<" + lhs + ", f64>, !graph.tensor<" +
           rhs + ", f64>\n  return %z : !graph.tensor<" + result + ", f64>\n}";
  }
};

TEST_F(ContractionGradient, Matrices) {
  check(contract("[m, k]", "[k, n]", "batch [] x [] contract [1] x [0]", "[m, n]"));
  check(contract("[m, k]", "[n, k]", "batch [] x [] contract [1] x [1]", "[m, n]"));
  check(contract("[k, m]", "[k, n]", "batch [] x [] contract [0] x [0]", "[m, n]"));
  check(contract("[k]", "[k]", "batch [] x [] contract [0] x [0]", "[]"));
  check(contract("[m]", "[n]", "batch [] x [] contract [] x []", "[m, n]"));
}

TEST_F(ContractionGradient, Batches) {
  check(contract("[b, m, k]", "[b, k, n]", "batch [0] x [0] contract [2] x [1]", "[b, m, n]"));
  check(contract("[m, b, k]", "[k, n, b]", "batch [1] x [2] contract [2] x [0]", "[b, m, n]"));
  check(contract("[b, c, k]", "[c, k, b]", "batch [0, 1] x [2, 0] contract [2] x [1]", "[b, c]"));
  check(contract("[k, m, l]", "[l, k, n]", "batch [] x [] contract [0, 2] x [1, 0]", "[m, n]"));
  check(contract("[k, m, l]", "[l, k, n]", "batch [] x [] contract [2, 0] x [0, 1]", "[m, n]"));
}

TEST_F(ContractionGradient, OneOperandTwice) {
  check(R"((%x: !graph.tensor<[m, k], f64>) -> !graph.tensor<[m, m], f64> {
    %z = graph.contract %x, %x batch [] x [] contract [1] x [1] : !graph.tensor<[m, k], f64>, !graph.tensor<[m, k], f64>
    return %z : !graph.tensor<[m, m], f64>
  })");
}

TEST_F(ContractionGradient, Twice) {
  checkTwice(contract("[m, k]", "[k, n]", "batch [] x [] contract [1] x [0]", "[m, n]"));
  checkTwice(R"((%x: !graph.tensor<[m, k], f64>, %w: !graph.tensor<[k, n], f64>, %b: !graph.tensor<[n], f64>)
      -> !graph.tensor<[m, n], f64> {
    %y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[m, k], f64>, !graph.tensor<[k, n], f64>
    %c = graph.broadcast %b dims [1] : !graph.tensor<[n], f64> -> !graph.tensor<[m, n], f64>
    %z = graph.binary add %y, %c : !graph.tensor<[m, n], f64>
    %t = graph.unary tanh %z : !graph.tensor<[m, n], f64>
    return %t : !graph.tensor<[m, n], f64>
  })");
}

} // namespace

} // namespace freestone::grad
