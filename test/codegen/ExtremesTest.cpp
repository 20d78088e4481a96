// Largest and smallest elements of rows, compiled and run, with and without NaN.
#include "test/codegen/FloatOperands.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace freestone::test;

namespace {

std::string extremes() {
  std::string text;
  for (auto [name, op, init] :
       {std::tuple("largest", "maximumf", "0xFF800000"), {"smallest", "minimumf", "0x7F800000"}})
    text += std::string("tile.program @") + name + R"( symbols [m, k] (%x: !graph.tensor<[m, k], f32>)
      -> (!graph.tensor<[m], f32>) {
    %r = tile.compute [m, k] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [)" +
            init + " : f32] {\n      ^bb0(%a: f32, %most: f32):\n        %s = arith." + op + R"( %most, %a : f32
        tile.yield %s : f32
      } : (!graph.tensor<[m, k], f32>) -> !graph.tensor<[m], f32>
    tile.return %r : !graph.tensor<[m], f32>
  }
)";
  return text;
}

} // namespace

/// A row with NaN at any position is NaN, in whole vectors and in the remainder; elements of either sign.
TEST(Extremes, RowsOfAllLengths) {
  Random random(5);
  for (const std::string &target : levelsHere()) {
    ProgramRunner runner(extremes(), target);
    ASSERT_EQ(runner.error(), "");
    for (int64_t length : {1, 3, 15, 16, 17, 32, 70}) {
      // In row i element i is NaN; the last row has none.
      const int64_t rows = length + 1;
      GuardedMemory x = floats(rows * length), y = floats(rows);
      random.fill(x);
      for (int64_t row = 0; row < length; ++row)
        x.as<float>()[row * length + row] = std::numeric_limits<float>::quiet_NaN();
      const float *last = x.as<float>() + length * length;
      runner.run("largest", {x.as<void>(), y.as<void>()}, {rows, length});
      EXPECT_EQ(y.as<float>()[length], *std::max_element(last, last + length));
      EXPECT_TRUE(std::all_of(y.as<float>(), y.as<float>() + length, [](float value) { return std::isnan(value); }));
      runner.run("smallest", {x.as<void>(), y.as<void>()}, {rows, length});
      EXPECT_EQ(y.as<float>()[length], *std::min_element(last, last + length));
      EXPECT_TRUE(std::all_of(y.as<float>(), y.as<float>() + length, [](float value) { return std::isnan(value); }));
    }
  }
}
