#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

using ShapeGradient = GradientCheck;

/// `from` and `to` are shapes, `op` the operator's text between operand and types.
std::string move(const std::string &from, const std::string &to, const std::string &op, bool typed = false) {
  return "(%x: !graph.tensor<" + from + ", f64>) -> !graph.tensor<" + to + ", f64> {\n  %y = " + op +
         " : !graph.tensor<" + from + ", f64>" + (typed ? " -> !graph.tensor<" + to + ", f64>" : "") +
         "\n  return %y : !graph.tensor<" + to + ", f64>\n}";
}

TEST_F(ShapeGradient, Broadcast) {
  check("(%x: !graph.tensor<[n], f64>, %z: !graph.tensor<[m], f64> {test.fixed}) -> !graph.tensor<[m, n, m], f64> {\n"
        "  %y = graph.broadcast %x dims [1] : !graph.tensor<[n], f64> -> !graph.tensor<[m, n, m], f64>\n"
        "  return %y : !graph.tensor<[m, n, m], f64>\n}");
  check(
      "(%x: !graph.tensor<[n, 1], f64>, %z: !graph.tensor<[m], f64> {test.fixed}) -> !graph.tensor<[m, n, m], f64> {\n"
      "  %y = graph.broadcast %x dims [1, 2] : !graph.tensor<[n, 1], f64> -> !graph.tensor<[m, n, m], f64>\n"
      "  return %y : !graph.tensor<[m, n, m], f64>\n}");
  check("(%x: !graph.tensor<[], f64>, %z: !graph.tensor<[m], f64> {test.fixed}) -> !graph.tensor<[m], f64> {\n"
        "  %y = graph.broadcast %x dims [] : !graph.tensor<[], f64> -> !graph.tensor<[m], f64>\n"
        "  return %y : !graph.tensor<[m], f64>\n}");
}

TEST_F(ShapeGradient, Rearranging) {
  check(move("[m, n]", "[m*n]", "graph.reshape %x", true));
  check(move("[m, 2*n]", "[n, 2, m]", "graph.reshape %x", true));
  check(move("[m, n, k]", "[k, m, n]", "graph.transpose %x [2, 0, 1]"));
  check(move("[m, n]", "[m, n]", "graph.match_shape %x label \"x\"", true));
  check("(%x: !graph.tensor<[m, n], f64>, %y: !graph.tensor<[m, k], f64>) -> !graph.tensor<[m, n + k + n], f64> {\n"
        "  %z = graph.concat %x, %y, %x axis 1 : !graph.tensor<[m, n], f64>, !graph.tensor<[m, k], f64>, "
        "!graph.tensor<[m, n], f64>\n  return %z : !graph.tensor<[m, n + k + n], f64>\n}");
}

TEST_F(ShapeGradient, Slice) {
  check(move("[m + 3, n]", "[m, n]", "graph.slice %x starts [2, 0] sizes [m, n] steps [1, 1]"));
  check(move("[m, n]", "[m, n]", "graph.slice %x starts [0, n - 1] sizes [m, n] steps [1, -1]"));
  check(move("[3*m + 1]", "[m]", "graph.slice %x starts [1] sizes [m] steps [3]"));
  check(move("[2*m + 2]", "[m]", "graph.slice %x starts [2*m] sizes [m] steps [-2]"));
  check(move("[m]", "[(m + 1) floordiv 2]", "graph.slice %x starts [0] sizes [(m + 1) floordiv 2] steps [2]"));
}

TEST_F(ShapeGradient, Pad) {
  auto pad = [](const std::string &shape, const std::string &amounts) {
    return "(%x: !graph.tensor<[m, n], f64>, %v: !graph.tensor<[], f64>) -> !graph.tensor<" + shape +
           ", f64> {\n  %y = graph.pad %x, %v " + amounts +
           " : !graph.tensor<[m, n], f64>, !graph.tensor<[], f64>\n  return %y : !graph.tensor<" + shape + ", f64>\n}";
  };
  check(pad("[m + 3, n]", "low [1, 0] high [2, 0] interior [0, 0]"));
  check(pad("[m, n + 1]", "low [2, -1] high [-2, 2] interior [0, 0]"), /*empty=*/false);
  check(pad("[max(3*m - 2, 0) + 1, 2*n]", "low [1, n] high [0, 0] interior [2, 0]"));
  checkAt(pad("[max(2*m - 1, 0) - 1, n]", "low [-2, 0] high [1, 0] interior [1, 0]"), {{"m", 4}, {"n", 2}});
}

TEST_F(ShapeGradient, Twice) {
  checkTwice(R"((%x: !graph.tensor<[m, n], f64>) -> !graph.tensor<[n + 1, m], f64> {
    %t = graph.transpose %x [1, 0] : !graph.tensor<[m, n], f64>
    %e = graph.unary exp %t : !graph.tensor<[n, m], f64>
    %z = graph.constant dense<0.0> : tensor<f64> -> !graph.tensor<[], f64>
    %p = graph.pad %e, %z low [1, 0] high [0, 0] interior [0, 0] : !graph.tensor<[n, m], f64>, !graph.tensor<[], f64>
    return %p : !graph.tensor<[n + 1, m], f64>
  })");
}

} // namespace

} // namespace freestone::grad
