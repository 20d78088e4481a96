// Contractions, compiled and run for many sizes, against plain loops in fp64; all buffers end at an unreadable page.
#include "test/codegen/ProgramRunner.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace freestone::test;

namespace {

constexpr const char *multiplyAdd = R"(
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tile.yield %s : f32
  })";

class Random {
public:
  explicit Random(int seed) : engine(seed) {}
  void fill(GuardedMemory &memory) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (size_t i = 0; i < memory.size() / sizeof(float); ++i)
      memory.as<float>()[i] = values(engine);
  }
  int64_t size() {
    static const int64_t sizes[] = {1, 1, 2, 3, 5, 7, 13, 14, 15, 16, 17, 29, 31, 32, 33, 64, 97, 127, 128, 131, 257, 300};
    return sizes[engine() % std::size(sizes)];
  }

private:
  std::mt19937 engine;
};

GuardedMemory floats(int64_t count) { return GuardedMemory(count * sizeof(float)); }

/// [b, m, k] * [b, k, n], each operand possibly transposed.
void expectProduct(const ProgramRunner &runner, const std::string &name, int64_t b, int64_t m, int64_t n, int64_t k,
                   bool transposeB, Random &random) {
  GuardedMemory x = floats(b * m * k), w = floats(b * k * n), y = floats(b * m * n);
  random.fill(x);
  random.fill(w);
  std::fill_n(y.as<float>(), b * m * n, NAN);
  runner.run(name, {x.as<void>(), w.as<void>(), y.as<void>()}, {b, m, n, k}, 3);
  double worst = 0;
  for (int64_t i = 0; i < b; ++i)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t step = 0; step < k; ++step)
          sum += double(x.as<float>()[(i * m + row) * k + step]) *
                 (transposeB ? w.as<float>()[(i * n + column) * k + step] : w.as<float>()[(i * k + step) * n + column]);
        double error = std::abs(y.as<float>()[(i * m + row) * n + column] - sum);
        worst = error <= worst ? worst : error;
      }
  EXPECT_LE(worst, 1e-5 * std::sqrt(double(k) + 1)) << b << " x " << m << " x " << n << " x " << k;
}

std::string product(const std::string &name, const std::string &wShape, const std::string &wMap) {
  return "tile.program @" + name + R"( symbols [b, m, n, k]
      (%x: !graph.tensor<[b, m, k], f32>, %w: !graph.tensor<)" + wShape + R"(, f32>) -> (!graph.tensor<[b, m, n], f32>) {
    %r = tile.compute [b, m, n, k] [parallel, parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %w : )" + wMap + R"() init [0.0 : f32] {)" + multiplyAdd +
         " : (!graph.tensor<[b, m, k], f32>, !graph.tensor<" + wShape + R"(, f32>) -> !graph.tensor<[b, m, n], f32>
    tile.return %r : !graph.tensor<[b, m, n], f32>
  })";
}

} // namespace

TEST(Contraction, BatchedProductsOfAllSizes) {
  ProgramRunner runner(product("plain", "[b, k, n]", "affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>") +
                       product("transposed", "[b, n, k]", "affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>"));
  ASSERT_EQ(runner.error(), "");
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    int64_t b = 1 + i % 3, m = random.size(), n = random.size(), k = random.size();
    expectProduct(runner, "plain", b, m, n, k, false, random);
    expectProduct(runner, "transposed", b, m, n, k, true, random);
  }
  expectProduct(runner, "plain", 1, 509, 513, 511, false, random);
  expectProduct(runner, "plain", 1, 3, 5, 0, false, random);
  expectProduct(runner, "plain", 1, 0, 5, 3, false, random);
}
