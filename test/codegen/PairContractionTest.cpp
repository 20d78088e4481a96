// Dot products of bf16 by every unit of this machine, against plain loops. Values are small integers, so that sums are
// exact.
#include "test/codegen/ProgramRunner.h"

#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace freestone;
using namespace freestone::test;

namespace {

const char *units[] = {"x86-64-v4,+amx-bf16", "x86-64-v4,+avx512bf16", "x86-64-v3", "host", "host,-amx-bf16"};

uint16_t toBits(float value) { return std::bit_cast<uint32_t>(value) >> 16; }
float toFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// y = x·w for every one of b; z = y + bias, rounded.
std::string product(bool transposedX, bool transposedW, bool hasEpilogue) {
  std::string x = std::string("!graph.tensor<[b, ") + (transposedX ? "k, m" : "m, k") + "], bf16>";
  std::string w = std::string("!graph.tensor<[b, ") + (transposedW ? "n, k" : "k, n") + "], bf16>";
  std::string y = "!graph.tensor<[b, m, n], f32>", z = "!graph.tensor<[b, m, n], bf16>",
              bias = "!graph.tensor<[n], f32>";
  std::string text = "tile.program @product symbols [b, m, n, k] (%x: " + x + ", %w: " + w + ", %bias: " + bias +
                     ") -> (" + (hasEpilogue ? z : y) + ") {\n";
  text += "%y = tile.compute [b, m, n, k] [parallel, parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2, "
          "d3) -> (d0, " +
          std::string(transposedX ? "d3, d1" : "d1, d3") + ")>, %w : affine_map<(d0, d1, d2, d3) -> (d0, " +
          (transposedW ? "d2, d3" : "d3, d2") + ")>) init [0.0 : f32] {\n";
  text += R"(^bb0(%a: bf16, %b: bf16, %acc: f32):
               %p = arith.extf %a : bf16 to f32
               %q = arith.extf %b : bf16 to f32
               %r = arith.mulf %p, %q : f32
               %s = arith.addf %acc, %r : f32
               tile.yield %s : f32
             } : ()" +
          x + ", " + w + ") -> " + y + "\n";
  if (!hasEpilogue)
    return text + "tile.return %y : " + y + "\n}";
  text +=
      "%z = tile.compute [b, m, n] [parallel, parallel, parallel] ins(%y : affine_map<(d0, d1, d2) -> (d0, d1, d2)>, "
      "%bias : affine_map<(d0, d1, d2) -> (d2)>) {\n";
  text += R"(^bb0(%a: f32, %b: f32):
               %s = arith.addf %a, %b : f32
               %t = arith.truncf %s : f32 to bf16
               tile.yield %t : bf16
             } : ()" +
          y + ", " + bias + ") -> " + z + "\n";
  return text + "tile.return %z : " + z + "\n}";
}

struct PairOperands {
  GuardedMemory x, w, bias;
  int64_t m, n, k;
  bool transposedX, transposedW;

  float sum(int64_t image, int64_t row, int64_t column) {
    float sum = 0;
    for (int64_t step = 0; step < k; ++step)
      sum += toFloat(x.as<uint16_t>()[image * m * k + (transposedX ? step * m + row : row * k + step)]) *
             toFloat(w.as<uint16_t>()[image * n * k + (transposedW ? column * k + step : step * n + column)]);
    return sum;
  }
};

void expectProduct(const std::string &target, bool transposedX, bool transposedW, bool hasEpilogue) {
  ProgramRunner runner(product(transposedX, transposedW, hasEpilogue), target);
  ASSERT_EQ(runner.error(), "") << target;
  std::mt19937 engine(4);
  for (auto [b, m, n, k] : {std::array<int64_t, 4>{1, 1, 1, 1},
                            {2, 3, 5, 7},
                            {1, 32, 32, 32},
                            {2, 17, 33, 40},
                            {1, 7, 9, 0},
                            {1, 70, 300, 600},
                            {1, 300, 45, 95},
                            {1, 65, 34, 2100}}) {
    PairOperands operands{GuardedMemory(b * m * k * 2),
                          GuardedMemory(b * k * n * 2),
                          GuardedMemory(n * 4),
                          m,
                          n,
                          k,
                          transposedX,
                          transposedW};
    for (GuardedMemory *memory : {&operands.x, &operands.w})
      for (size_t i = 0; i < memory->size() / 2; ++i)
        memory->as<uint16_t>()[i] = toBits(static_cast<float>(engine() % 7) - 3.0f);
    for (int64_t i = 0; i < n; ++i)
      operands.bias.as<float>()[i] = static_cast<float>(i % 5);
    GuardedMemory y(b * m * n * (hasEpilogue ? 2 : 4));
    runner.run("product", {operands.x.as<void>(), operands.w.as<void>(), operands.bias.as<void>(), y.as<void>()},
               {b, m, n, k}, 2);
    for (int64_t i = 0; i < b * m * n; ++i) {
      float sum = operands.sum(i / (m * n), i / n % m, i % n);
      if (hasEpilogue)
        ASSERT_NEAR(toFloat(y.as<uint16_t>()[i]), sum + static_cast<float>(i % n % 5), 4e-3f * std::abs(sum) + 1e-3f)
            << target << " " << m << " " << n << " " << k << " at " << i;
      else
        ASSERT_EQ(y.as<float>()[i], sum) << target << " " << m << " " << n << " " << k << " at " << i;
    }
  }
}

} // namespace

TEST(PairContraction, EveryUnit) {
  for (const char *target : units)
    if (runsHere(target))
      for (bool hasEpilogue : {false, true})
        for (bool transposedX : {false, true})
          for (bool transposedW : {false, true})
            expectProduct(target, transposedX, transposedW, hasEpilogue);
}
