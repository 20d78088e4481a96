// Contractions, compiled and run for many sizes, against plain loops in fp64; all buffers end at an unreadable page.
#include "test/codegen/FloatOperands.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace freestone;
using namespace freestone::test;

namespace {

/// The layouts of the operands of [b, m, k] * [b, k, n].
struct Operands {
  std::string name;
  bool transposedX, transposedW;
  /// Of packed W; 0: unpacked.
  int64_t panelWidth;
};

std::string product(const Operands &operands) {
  std::string x = std::string("!graph.tensor<") + (operands.transposedX ? "[b, k, m]" : "[b, m, k]") + ", f32>";
  std::string w = std::string("!graph.tensor<") + (operands.transposedW ? "[b, n, k]" : "[b, k, n]") + ", f32";
  if (operands.panelWidth)
    w += ", #tile.panels<axis = 2, width = " + std::to_string(operands.panelWidth) + ", batch = 1>";
  w += ">";
  std::string map = "affine_map<(d0, d1, d2, d3) -> ", y = "!graph.tensor<[b, m, n], f32>";
  return "tile.program @" + operands.name + " symbols [b, m, n, k] (%x: " + x + ", %w: " + w + ") -> (" + y + R"() {
    %r = tile.compute [b, m, n, k] [parallel, parallel, parallel, reduction]
      ins(%x : )" +
         map + (operands.transposedX ? "(d0, d3, d1)" : "(d0, d1, d3)") + ">, %w : " + map +
         (operands.transposedW ? "(d0, d2, d3)" : "(d0, d3, d2)") + ">) init [0.0 : f32] {" + multiplyAdd + " : (" + x +
         ", " + w + ") -> " + y + "\n    tile.return %r : " + y + "\n  }\n";
}

std::vector<Operands> allOperands(int64_t panelWidth) {
  return {{"nn", false, false, 0},
          {"nt", false, true, 0},
          {"tn", true, false, 0},
          {"tt", true, true, 0},
          {"panels", false, false, panelWidth}};
}

std::string products(const std::vector<Operands> &operands) {
  std::string text;
  for (const Operands &some : operands)
    text += product(some);
  return text;
}

void expectProduct(const ProgramRunner &runner, const Operands &operands, int64_t b, int64_t m, int64_t n, int64_t k,
                   Random &random) {
  int64_t width = std::max<int64_t>(operands.panelWidth, 1), stored = (n + width - 1) / width * width;
  GuardedMemory x = floats(b * m * k), w = floats(b * k * stored), y = floats(b * m * n);
  random.fill(x);
  random.fill(w);
  std::fill_n(y.as<float>(), b * m * n, NAN);
  runner.run(operands.name, {x.as<void>(), w.as<void>(), y.as<void>()}, {b, m, n, k}, 3);
  auto xAt = [&](int64_t i, int64_t row, int64_t step) -> double {
    return x.as<float>()[operands.transposedX ? (i * k + step) * m + row : (i * m + row) * k + step];
  };
  auto wAt = [&](int64_t i, int64_t step, int64_t column) -> double {
    const float *at = w.as<float>() + i * k * stored;
    if (operands.panelWidth)
      return at[(column / width * k + step) * width + column % width];
    return at[operands.transposedW ? column * k + step : step * n + column];
  };
  double worst = 0;
  for (int64_t i = 0; i < b; ++i)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t step = 0; step < k; ++step)
          sum += xAt(i, row, step) * wAt(i, step, column);
        double error = std::abs(y.as<float>()[(i * m + row) * n + column] - sum);
        worst = error <= worst ? worst : error;
      }
  EXPECT_LE(worst, 1e-5 * std::sqrt(double(k) + 1))
      << operands.name << " " << b << " x " << m << " x " << n << " x " << k;
}

DeviceDescription describe(const std::string &target) { return llvm::cantFail(DeviceDescription::get(target)); }

int64_t hostPanelWidth() { return describe("host").getPanelWidth(32); }

} // namespace

TEST(Contraction, BatchedProductsOfAllSizes) {
  std::vector<Operands> operands = allOperands(hostPanelWidth());
  ProgramRunner runner(products(operands));
  ASSERT_EQ(runner.error(), "");
  Random random(1);
  for (int i = 0; i < 40; ++i) {
    int64_t b = 1 + i % 3, m = random.size(), n = random.size(), k = random.size();
    for (const Operands &some : operands)
      expectProduct(runner, some, b, m, n, k, random);
  }
  for (const Operands &some : operands) {
    expectProduct(runner, some, 1, 3, 5, 0, random);
    expectProduct(runner, some, 2, 17, 33, 1, random);
    expectProduct(runner, some, 1, 0, 5, 3, random);
  }
}

// Several blocks of rows, columns and k, so that tiles reuse packed operands; more blocks of k, and more columns, than
// stay packed.
TEST(Contraction, ManyBlocks) {
  std::vector<Operands> operands = allOperands(hostPanelWidth());
  ProgramRunner runner(products(operands));
  ASSERT_EQ(runner.error(), "");
  Random random(2);
  for (const Operands &some : operands) {
    expectProduct(runner, some, 2, 300, 290, 530, random);
    expectProduct(runner, some, 1, 260, 70, 4150, random);
  }
  expectProduct(runner, operands[0], 1, 509, 513, 511, random);
  expectProduct(runner, operands[0], 1, 260, 40000, 67, random);
}

/// A product of few rows has a tile for every panel at least, so that many workers have work; independent of this machine.
TEST(Contraction, SmallProductsHaveTilesForManyWorkers) {
  for (const char *target : {"x86-64-v3", "x86-64-v4"}) {
    DeviceDescription device = describe(target);
    int64_t width = device.getPanelWidth(32), rows = 4 * device.getPanelRows();
    ProgramRunner runner(products({{"packed", false, false, width}}), target);
    ASSERT_EQ(runner.error(), "");
    EXPECT_GE(runner.getTiles("packed", {1, rows, 4 * width, 3136}), 4) << target;
    EXPECT_GE(runner.getTiles("packed", {1, rows, 32 * width, 512}), 32) << target;
    EXPECT_GE(runner.getTiles("packed", {1, rows, 128 * width, 512}), 128) << target;
  }
}

TEST(Contraction, EveryTarget) {
  for (const std::string &target : levelsHere()) {
    std::vector<Operands> operands = allOperands(describe(target).getPanelWidth(32));
    ProgramRunner runner(products(operands), target);
    ASSERT_EQ(runner.error(), "");
    Random random(3);
    for (int i = 0; i < 20; ++i) {
      int64_t m = random.size(), n = random.size(), k = random.size();
      for (const Operands &some : operands)
        expectProduct(runner, some, 1, m, n, k, random);
    }
  }
}
