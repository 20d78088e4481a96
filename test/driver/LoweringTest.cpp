// Every pass leaves a legal program: the interpreter gives the same results after each.
#include "test/driver/CompileModule.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace freestone;
using namespace freestone::test;

namespace {

struct Operator {
  const char *name;
  /// Uses %x: [n, 6, 5] f32; defines %y of the type below.
  const char *body;
  const char *type = "!graph.tensor<[n, 6, 5], f32>";
};

const Operator operators[] = {
    {"unary", "%y = graph.unary tanh %x : !x"},
    {"broadcast", R"(%s = graph.reduce max %x axes [2] : !x
       %b = graph.broadcast %s dims [0, 1] : !graph.tensor<[n, 6], f32> -> !x
       %y = graph.binary sub %x, %b : !x)"},
    {"softmax", "%y = graph.softmax %x axis 2 : !x"},
    {"layer_norm", "%y = graph.layer_norm %x axis 1 epsilon 1.0e-5 : !x"},
    {"gelu", "%y = graph.gelu exact %x : !x"},
    {"transpose", "%y = graph.transpose %x [2, 0, 1] : !x", "!graph.tensor<[5, n, 6], f32>"},
    {"slice", "%y = graph.slice %x starts [0, 5, 1] sizes [n, 3, 2] steps [1, -2, 2] : !x",
     "!graph.tensor<[n, 3, 2], f32>"},
    {"pad", R"(%v = graph.constant dense<7.0> : tensor<f32> -> !graph.tensor<[], f32>
       %y = graph.pad %x, %v low [0, 1, 2] high [1, 0, 1] interior [0, 1, 0] : !x, !graph.tensor<[], f32>)",
     "!graph.tensor<[n + 1, 12, 8], f32>"},
    {"concat", "%y = graph.concat %x, %x axis 1 : !x, !x", "!graph.tensor<[n, 12, 5], f32>"},
    {"contract", R"(%t = graph.transpose %x [0, 2, 1] : !x
       %y = graph.contract %x, %t batch [0] x [0] contract [2] x [1] : !x, !graph.tensor<[n, 5, 6], f32>)",
     "!graph.tensor<[n, 6, 6], f32>"},
    {"select", R"(%z = graph.constant dense<0.0> : tensor<f32> -> !x
       %c = graph.compare lt %x, %z : !x
       %n = graph.unary neg %x : !x
       %y = graph.select %c, %n, %x : !graph.tensor<[n, 6, 5], i1>, !x)"},
    {"cast", R"(%i = graph.cast %x to i32 : !x
       %y = graph.cast %i to f32 : !graph.tensor<[n, 6, 5], i32>)"},
    {"window", R"(%y = graph.window max %x sizes [3] strides [2] dilations [1] low [1] high [1] : !x)",
     "!graph.tensor<[n, 6, 3], f32>"},
};

const char *const passes[] = {"func.func(graph-decompose)",       "func.func(graph-to-tile)",
                              "func.func(tile-inline-producers)", "func.func(tile-fuse)",
                              "func.func(tile-coalesce-loops)",   "tile-outline"};

class Lowering : public testing::TestWithParam<Operator> {};

TEST_P(Lowering, KeepsTheNumbers) {
  const Operator &op = GetParam();
  CompileModule module("!x = !graph.tensor<[n, 6, 5], f32>\nfunc.func @main(%x: !x {graph.name = \"x\"}) -> (" +
                       std::string(op.type) + " {graph.name = \"y\"}) {\n" + op.body + "\nreturn %y : " + op.type +
                       "\n}");
  std::vector<float> x(3 * 6 * 5);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 3 * std::sin(1.3f * static_cast<float>(i));
  std::vector<float> expected = module.interpret({3, 6, 5}, x, nullptr);
  for (const char *pass : passes) {
    module.run(pass);
    std::vector<float> actual = module.interpret({3, 6, 5}, x, nullptr);
    ASSERT_EQ(actual.size(), expected.size()) << pass;
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 1e-6) << pass << " at " << i;
  }
  for (const std::string &name : module.operations())
    EXPECT_TRUE(name == "tile.call" || name == "graph.reshape" || name == "graph.constant") << name;
}

INSTANTIATE_TEST_SUITE_P(Operators, Lowering, testing::ValuesIn(operators),
                         [](const auto &test) { return std::string(test.param.name); });

} // namespace
