// Products over every element type, against plain loops. Values are small integers, so that sums are exact in wide
// types.
#include "test/codegen/ProgramRunner.h"

#include <array>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace freestone::test;

namespace {

/// The compiler's own type needs a conversion function that is not linked here. Truncation is exact for the test's
/// values.
struct BFloat16 {
  BFloat16() = default;
  explicit BFloat16(float value) : bits(std::bit_cast<uint32_t>(value) >> 16) {}
  explicit operator double() const { return std::bit_cast<float>(uint32_t(bits) << 16); }

  uint16_t bits;
};

/// The types of a product: operands, their scalars and the result, and the widening operation (if any).
struct Types {
  std::string from, scalar, to, widen;
  char kind;
};

/// Both operands may be transposed in memory.
std::string product(const Types &types, bool transposed) {
  bool widens = !types.widen.empty();
  std::string zero = types.kind == 'f' ? "0.0" : "0", a = widens ? "%wide_a" : "%a", b = widens ? "%wide_b" : "%b";
  std::string x = std::string("!graph.tensor<") + (transposed ? "[k, m], " : "[m, k], ") + types.from + ">";
  std::string w = std::string("!graph.tensor<") + (transposed ? "[n, k], " : "[k, n], ") + types.from + ">";
  std::string y = "!graph.tensor<[m, n], " + types.to + ">";
  std::string text = "tile.program @typed symbols [m, n, k] (%x: " + x + ", %w: " + w + ") -> (" + y + ") {\n";
  text += "%r = tile.compute [m, n, k] [parallel, parallel, reduction] ins(%x : affine_map<(d0, d1, d2) -> " +
          std::string(transposed ? "(d2, d0)" : "(d0, d2)") + ">, %w : affine_map<(d0, d1, d2) -> " +
          (transposed ? "(d1, d2)" : "(d2, d1)") + ">) init [" + zero + " : " + types.to + "] {\n";
  text += "^bb0(%a: " + types.scalar + ", %b: " + types.scalar + ", %acc: " + types.to + "):\n";
  if (widens)
    for (std::string name : {"a", "b"})
      text +=
          "%wide_" + name + " = arith." + types.widen + " %" + name + " : " + types.scalar + " to " + types.to + "\n";
  text += std::string("%p = arith.mul") + types.kind + " " + a + ", " + b + " : " + types.to + "\n";
  text += std::string("%s = arith.add") + types.kind + " %acc, %p : " + types.to + "\n";
  text += "tile.yield %s : " + types.to + "\n} : (" + x + ", " + w + ") -> " + y + "\n";
  return text + "tile.return %r : " + y + "\n}";
}

template <typename From, typename To> void expectProduct(const Types &types, bool transposed, double tolerance) {
  ProgramRunner runner(product(types, transposed));
  ASSERT_EQ(runner.error(), "") << types.from << " to " << types.to;
  std::mt19937 engine(4);
  bool isSigned = static_cast<double>(static_cast<From>(-1.0f)) < 0;
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {17, 33, 40}, {30, 70, 300}}) {
    GuardedMemory x(m * k * sizeof(From)), w(k * n * sizeof(From)), y(m * n * sizeof(To));
    for (GuardedMemory *memory : {&x, &w})
      for (size_t i = 0; i < memory->size() / sizeof(From); ++i)
        memory->as<From>()[i] = static_cast<From>(static_cast<float>(engine() % 16) - (isSigned ? 8.0f : 0.0f));
    runner.run("typed", {x.as<void>(), w.as<void>(), y.as<void>()}, {m, n, k}, 2);
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int64_t step = 0; step < k; ++step)
        sum += static_cast<double>(x.as<From>()[transposed ? step * m + i / n : i / n * k + step]) *
               static_cast<double>(w.as<From>()[transposed ? i % n * k + step : step * n + i % n]);
      ASSERT_NEAR(static_cast<double>(y.as<To>()[i]), sum, tolerance * (1 + std::abs(sum))) << types.from;
    }
  }
}

template <typename From, typename To> void expectProduct(const Types &types, double tolerance) {
  for (bool transposed : {false, true})
    expectProduct<From, To>(types, transposed, tolerance);
}

} // namespace

TEST(ContractionTypes, Floats) {
  expectProduct<double, double>({"f64", "f64", "f64", "", 'f'}, 0);
  expectProduct<_Float16, _Float16>({"f16", "f16", "f16", "", 'f'}, 1e-3);
  expectProduct<_Float16, float>({"f16", "f16", "f32", "extf", 'f'}, 0);
  expectProduct<BFloat16, BFloat16>({"bf16", "bf16", "bf16", "", 'f'}, 8e-3);
  expectProduct<BFloat16, float>({"bf16", "bf16", "f32", "extf", 'f'}, 0);
}

TEST(ContractionTypes, Integers) {
  expectProduct<int32_t, int32_t>({"i32", "i32", "i32", "", 'i'}, 0);
  expectProduct<int64_t, int64_t>({"i64", "i64", "i64", "", 'i'}, 0);
  expectProduct<int8_t, int32_t>({"i8", "i8", "i32", "extsi", 'i'}, 0);
  expectProduct<uint8_t, int32_t>({"ui8", "i8", "i32", "extui", 'i'}, 0);
  expectProduct<int16_t, int16_t>({"i16", "i16", "i16", "", 'i'}, 0);
}
