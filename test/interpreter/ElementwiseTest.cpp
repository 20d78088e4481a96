#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "test/interpreter/RunText.h"
#include <cmath>
#include <limits>

namespace freestone::interpreter {
namespace {

class ElementwiseTest : public RunText {
protected:
  /// One operator of a float.
  double unary(llvm::StringRef kind, double x) {
    auto results = run(("func.func @main(%x: !graph.tensor<[], f64>) -> !graph.tensor<[], f64> {\n %y = graph.unary " +
                        kind + " %x : !graph.tensor<[], f64>\n return %y : !graph.tensor<[], f64> }")
                           .str(),
                       {f64({}, {x})});
    return results.empty() ? -1e300 : reals(results[0])[0];
  }
  double binary(llvm::StringRef kind, double a, double b) {
    auto results =
        run(("func.func @main(%a: !graph.tensor<[], f64>, %b: !graph.tensor<[], f64>) -> !graph.tensor<[], f64> {\n"
             " %y = graph.binary " +
             kind + " %a, %b : !graph.tensor<[], f64>\n return %y : !graph.tensor<[], f64> }")
                .str(),
            {f64({}, {a}), f64({}, {b})});
    return results.empty() ? -1e300 : reals(results[0])[0];
  }
  /// One operator of integers of a type.
  int64_t binary(llvm::StringRef kind, llvm::StringRef type, int64_t a, int64_t b) {
    std::string tensor = ("!graph.tensor<[], " + type + ">").str(), i64 = "!graph.tensor<[], i64>";
    auto results =
        run(("func.func @main(%a: " + i64 + ", %b: " + i64 + ") -> " + i64 + " {\n %c = graph.cast %a to " + type +
             " : " + i64 + "\n %d = graph.cast %b to " + type + " : " + i64 + "\n %e = graph.binary " + kind +
             " %c, %d : " + tensor + "\n %f = graph.cast %e to i64 : " + tensor + "\n return %f : " + i64 + " }")
                .str(),
            {i64t(a), i64t(b)});
    return results.empty() ? -12345 : integers(results[0])[0];
  }
  HostTensor i64t(int64_t value) { return i64({}, {value}); }
};

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

TEST_F(ElementwiseTest, FunctionsOfOneNumber) {
  struct Case {
    const char *kind;
    double x, y;
  };
  for (auto [kind, x, y] : std::initializer_list<Case>{{"abs", -2.5, 2.5},
                                                       {"neg", 2, -2},
                                                       {"exp", 1, M_E},
                                                       {"exp2", 3, 8},
                                                       {"log", M_E, 1},
                                                       {"log1p", 1e-18, 1e-18},
                                                       {"expm1", 1e-18, 1e-18},
                                                       {"sqrt", 2, M_SQRT2},
                                                       {"rsqrt", 4, 0.5},
                                                       {"reciprocal", 8, 0.125},
                                                       {"sin", M_PI / 6, 0.5},
                                                       {"cos", M_PI / 3, 0.5},
                                                       {"tan", M_PI / 4, 1},
                                                       {"asin", 0.5, M_PI / 6},
                                                       {"acos", 0.5, M_PI / 3},
                                                       {"atan", 1, M_PI / 4},
                                                       {"sinh", 1, 1.1752011936438014},
                                                       {"cosh", 1, 1.5430806348152437},
                                                       {"tanh", 1, 0.7615941559557649},
                                                       {"asinh", 1, 0.881373587019543},
                                                       {"acosh", 2, 1.3169578969248166},
                                                       {"atanh", 0.5, 0.5493061443340548},
                                                       {"erf", 1, 0.8427007929497149},
                                                       {"floor", -1.5, -2},
                                                       {"ceil", -1.5, -1},
                                                       {"round", 2.5, 2},
                                                       {"round", -3.5, -4},
                                                       {"trunc", -1.7, -1},
                                                       {"sign", -3, -1},
                                                       {"sign", 0, 0}})
    EXPECT_NEAR(unary(kind, x), y, 1e-15 * std::max(1.0, std::abs(y))) << kind;
  EXPECT_TRUE(std::isnan(unary("sign", nan)));
}

TEST_F(ElementwiseTest, FunctionsOfTwoNumbers) {
  EXPECT_EQ(binary("rem", -7, 3), -1);
  EXPECT_EQ(binary("mod", -7, 3), 2);
  EXPECT_EQ(binary("mod", 7, -3), -2);
  EXPECT_EQ(binary("pow", 2, 0.5), M_SQRT2);
  EXPECT_EQ(binary("max", 1, 2), 2);
  EXPECT_TRUE(std::isnan(binary("max", nan, 2)));
  EXPECT_TRUE(std::isnan(binary("min", 2, nan)));
  EXPECT_EQ(binary("atan2", 1, 1), M_PI / 4);
  EXPECT_EQ(binary("div", 1, 0), infinity);
}

TEST_F(ElementwiseTest, IntegersWrapAndDivideAsInC) {
  EXPECT_EQ(binary("add", "i8", 127, 1), -128);
  EXPECT_EQ(binary("sub", "ui8", 0, 1), 255);
  EXPECT_EQ(binary("div", "i32", -7, 2), -3);
  EXPECT_EQ(binary("rem", "i32", -7, 2), -1);
  EXPECT_EQ(binary("mod", "i32", -7, 2), 1);
  EXPECT_EQ(binary("mod", "i32", 7, -2), -1);
  EXPECT_EQ(binary("div", "ui64", -1, 2), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(binary("div", "i64", std::numeric_limits<int64_t>::min(), -1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(binary("div", "i64", 5, 0), 0);
  EXPECT_EQ(binary("max", "ui8", 200, 100), 200);
  EXPECT_EQ(binary("max", "i8", 200, 100), 100);
  EXPECT_EQ(binary("shr", "i8", -128, 1), -64);
  EXPECT_EQ(binary("shr", "ui8", 128, 1), 64);
  EXPECT_EQ(binary("shl", "ui8", 129, 1), 2);
  EXPECT_EQ(binary("shl", "i32", 1, 32), 0);
  EXPECT_EQ(binary("shr", "i32", -1, 40), -1);
  EXPECT_EQ(binary("pow", "i32", 3, 4), 81);
  EXPECT_EQ(binary("pow", "i32", 2, -1), 0);
  EXPECT_EQ(binary("xor", "i16", 6, 3), 5);
}

TEST_F(ElementwiseTest, CompareAndSelect) {
  auto results = runMain(R"((%x: !graph.tensor<[n], f64>, %y: !graph.tensor<[n], f64>) -> !graph.tensor<[n], f64> {
    %c = graph.compare lt %x, %y : !graph.tensor<[n], f64>
    %n = graph.unary not %c : !graph.tensor<[n], i1>
    %r = graph.select %n, %x, %y : !graph.tensor<[n], i1>, !graph.tensor<[n], f64>
    return %r : !graph.tensor<[n], f64>
  })",
                         {f64({3}, {1, 5, nan}), f64({3}, {2, 3, 4})});
  ASSERT_EQ(results.size(), 1u);
  std::vector<double> values = reals(results[0]);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 5);
  EXPECT_TRUE(std::isnan(values[2]));
}

TEST_F(ElementwiseTest, Cast) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n], f64>) -> (!graph.tensor<[n], i8>, !graph.tensor<[n], ui8>, !graph.tensor<[n], i1>,
                             !graph.tensor<[n], f64>) {
    %a = graph.cast %x to i8 saturate : !graph.tensor<[n], f64>
    %b = graph.cast %x to ui8 saturate : !graph.tensor<[n], f64>
    %c = graph.cast %x to i1 : !graph.tensor<[n], f64>
    %d = graph.cast %x to f16 : !graph.tensor<[n], f64>
    %e = graph.cast %d to f64 : !graph.tensor<[n], f16>
    return %a, %b, %c, %e : !graph.tensor<[n], i8>, !graph.tensor<[n], ui8>, !graph.tensor<[n], i1>, !graph.tensor<[n], f64>
  })",
      {f64({5}, {-1.7, 300, 0, nan, 2049})});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{-1, 127, 0, 0, 127}));
  EXPECT_EQ(integers(results[1]), (std::vector<int64_t>{0, 255, 0, 0, 255}));
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{1, 1, 0, 1, 1}));
  EXPECT_EQ(reals(results[3])[4], 2048);
}

TEST_F(ElementwiseTest, NotRoundedBetweenOperators) {
  auto results = runMain(R"((%x: !graph.tensor<[], f32>) -> !graph.tensor<[], f32> {
    %a = graph.constant dense<1.0> : tensor<f32> -> !graph.tensor<[], f32>
    %b = graph.binary add %x, %a : !graph.tensor<[], f32>
    %c = graph.binary sub %b, %a : !graph.tensor<[], f32>
    return %c : !graph.tensor<[], f32>
  })",
                         {f32({}, {1e-10f})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_NEAR(reals(results[0])[0], 1e-10, 1e-15);
}

/// Positions have no sign.
TEST_F(ElementwiseTest, LookupsInTables) {
  context.loadDialect<tile::TileDialect>();
  std::string table;
  for (int64_t position = 0; position < tile::LookupOp::numbers; ++position)
    table += (position ? ", " : "") + std::to_string(int8_t(position * 5 + 3));
  auto results = run("func.func @main(%x: !graph.tensor<[n], i64>) -> !graph.tensor<[n], i64> {\n"
                     " %a = graph.cast %x to i8 : !graph.tensor<[n], i64>\n"
                     " %b = tile.compute [n] [parallel] ins(%a : affine_map<(d0) -> (d0)>) {\n"
                     " ^bb0(%e: i8):\n %f = tile.lookup %e in [" +
                         table +
                         "] : i8\n tile.yield %f : i8\n } : (!graph.tensor<[n], i8>) -> !graph.tensor<[n], i8>\n"
                         " %c = graph.cast %b to i64 : !graph.tensor<[n], i8>\n return %c : !graph.tensor<[n], i64> }",
                     {i64({5}, {0, 1, 127, -128, -1})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(integers(results[0]), (std::vector<int64_t>{3, 8, 126, -125, -2}));
}

} // namespace
} // namespace freestone::interpreter
