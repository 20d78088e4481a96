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
    static const int64_t sizes[] = {1,  1,  2,  3,  5,  7,  13,  14,  15,  16,  17,
                                    29, 31, 32, 33, 64, 97, 127, 128, 131, 257, 300};
    return sizes[engine() % std::size(sizes)];
  }

private:
  std::mt19937 engine;
};

GuardedMemory floats(int64_t count) { return GuardedMemory(count * sizeof(float)); }

/// How the operands of [b, m, k] * [b, k, n] are in memory.
struct Operands {
  std::string name;
  bool transposedX, transposedW;
  /// Of panels of W; 0: as it is.
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

int64_t hostPanelWidth() { return __builtin_cpu_supports("avx512vl") ? 32 : 16; }

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

// Several blocks of rows, columns and k, so that tiles use what others packed; more blocks of k than stay packed; and
// more columns.
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

TEST(Contraction, EveryTarget) {
  for (const char *target : {"x86-64-v3", "x86-64-v4"}) {
    if (target == std::string("x86-64-v4") && !__builtin_cpu_supports("avx512vl"))
      continue;
    std::vector<Operands> operands = allOperands(target == std::string("x86-64-v4") ? 32 : 16);
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

namespace {

struct Convolution {
  int64_t images, outputs, channels, height, width, kernel, stride, dilation, pad;
  int64_t extent(int64_t size) const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A convolution with bias and rectifier; sizes but the window's are symbols. Weights are panels of so many channels
/// out, or plain.
std::string convolution(const Convolution &c, int64_t panelWidth = 0) {
  std::string text = R"(tile.program @conv symbols [n, o, c, h, w, y, x]
      (%x: !graph.tensor<[n, c, h, w], f32>, %w: !graph.tensor<[o, c, K, K], f32>, %bias: !graph.tensor<[o], f32>)
      -> (!graph.tensor<[n, o, y, x], f32>) {
    %r = tile.compute [n, o, y, x, c, K, K] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * S + d5 * D - P, d3 * S + d6 * D - P)>,
          %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : f32, unit] init [0.0 : f32] {)";
  text += multiplyAdd;
  text += R"( : (!graph.tensor<[n, c, h, w], f32>, !graph.tensor<[o, c, K, K], f32>) -> !graph.tensor<[n, o, y, x], f32>
    %s = tile.compute [n, o, y, x] [parallel, parallel, parallel, parallel]
      ins(%r : affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, %bias : affine_map<(d0, d1, d2, d3) -> (d1)>) {
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32
        %zero = arith.constant 0.0 : f32
        %max = arith.maximumf %sum, %zero : f32
        tile.yield %max : f32
      } : (!graph.tensor<[n, o, y, x], f32>, !graph.tensor<[o], f32>) -> !graph.tensor<[n, o, y, x], f32>
    tile.return %s : !graph.tensor<[n, o, y, x], f32>
  })";
  if (panelWidth) {
    text = replaceAll(text, "<[o, c, K, K], f32>",
                      "<[c, K, K, o], f32, #tile.panels<axis = 3, width = " + std::to_string(panelWidth) + ">>");
    text = replaceAll(text, "(d1, d4, d5, d6)", "(d4, d5, d6, d1)");
  }
  text = replaceAll(text, " P,", " " + std::to_string(c.pad) + ",");
  text = replaceAll(text, " P)", " " + std::to_string(c.pad) + ")");
  text = replaceAll(text, "* S", "* " + std::to_string(c.stride));
  text = replaceAll(text, "* D", "* " + std::to_string(c.dilation));
  return replaceAll(text, "K", std::to_string(c.kernel));
}

GuardedMemory pack(GuardedMemory &weights, const Convolution &c, int64_t width) {
  int64_t depth = c.channels * c.kernel * c.kernel;
  GuardedMemory packed = floats((c.outputs + width - 1) / width * width * depth);
  std::fill_n(packed.as<float>(), packed.size() / sizeof(float), 0.0f);
  for (int64_t output = 0; output < c.outputs; ++output)
    for (int64_t step = 0; step < depth; ++step)
      packed.as<float>()[(output / width * depth + step) * width + output % width] =
          weights.as<float>()[output * depth + step];
  return packed;
}

void expectConvolution(const ProgramRunner &runner, const Convolution &c, Random &random, int64_t panelWidth = 0) {
  int64_t y = c.extent(c.height), x = c.extent(c.width);
  GuardedMemory image = floats(c.images * c.channels * c.height * c.width);
  GuardedMemory weights = floats(c.outputs * c.channels * c.kernel * c.kernel), bias = floats(c.outputs);
  GuardedMemory result = floats(c.images * c.outputs * y * x);
  random.fill(image);
  random.fill(weights);
  random.fill(bias);
  std::fill_n(result.as<float>(), c.images * c.outputs * y * x, NAN);
  GuardedMemory packed = pack(weights, c, std::max<int64_t>(panelWidth, 1));
  runner.run(
      "conv",
      {image.as<void>(), panelWidth ? packed.as<void>() : weights.as<void>(), bias.as<void>(), result.as<void>()},
      {c.images, c.outputs, c.channels, c.height, c.width, y, x}, 2);
  double worst = 0;
  for (int64_t i = 0; i < c.images * c.outputs * y * x; ++i) {
    int64_t column = i % x, row = i / x % y, output = i / x / y % c.outputs, number = i / x / y / c.outputs;
    double sum = bias.as<float>()[output];
    for (int64_t channel = 0; channel < c.channels; ++channel)
      for (int64_t dy = 0; dy < c.kernel; ++dy)
        for (int64_t dx = 0; dx < c.kernel; ++dx) {
          int64_t atRow = row * c.stride + dy * c.dilation - c.pad,
                  atColumn = column * c.stride + dx * c.dilation - c.pad;
          if (atRow < 0 || atRow >= c.height || atColumn < 0 || atColumn >= c.width)
            continue;
          sum += double(image.as<float>()[((number * c.channels + channel) * c.height + atRow) * c.width + atColumn]) *
                 weights.as<float>()[((output * c.channels + channel) * c.kernel + dy) * c.kernel + dx];
        }
    double error = std::abs(result.as<float>()[i] - std::max(sum, 0.0));
    worst = error <= worst ? worst : error;
  }
  EXPECT_LE(worst, 1e-4) << c.images << "x" << c.channels << "x" << c.height << "x" << c.width << " to " << c.outputs
                         << " by " << c.kernel << " stride " << c.stride;
}

} // namespace

TEST(Contraction, ConvolutionsWithEpilogue) {
  Random random(2);
  for (Convolution c : {Convolution{0, 0, 0, 0, 0, 3, 1, 1, 1}, Convolution{0, 0, 0, 0, 0, 3, 2, 1, 1},
                        Convolution{0, 0, 0, 0, 0, 5, 1, 2, 3}, Convolution{0, 0, 0, 0, 0, 1, 1, 1, 0},
                        Convolution{0, 0, 0, 0, 0, 1, 2, 1, 0}}) {
    ProgramRunner runner(convolution(c));
    ASSERT_EQ(runner.error(), "");
    for (int64_t size : {3, 5, 7, 8, 14, 17, 28, 40}) {
      c.images = 1 + size % 2;
      c.channels = size == 14 ? 65 : 1 + size % 5;
      c.outputs = size == 7 ? 64 : 1 + size % 19;
      c.height = std::max<int64_t>(size, c.dilation * (c.kernel - 1) + 1);
      c.width = c.height + size % 3;
      expectConvolution(runner, c, random);
    }
  }
}

/// Rows of pixels and their blocks of every length, several blocks of channels in, strides and dilations of rows.
TEST(Contraction, ConvolutionsWithPackedWeights) {
  Random random(4);
  for (auto [target, width] : {std::pair<const char *, int64_t>{"x86-64-v3", 16}, {"x86-64-v4", 32}}) {
    if (width == 32 && !__builtin_cpu_supports("avx512vl"))
      continue;
    for (Convolution c : {Convolution{0, 0, 0, 0, 0, 3, 1, 1, 1}, Convolution{0, 0, 0, 0, 0, 3, 1, 1, 0},
                          Convolution{0, 0, 0, 0, 0, 3, 1, 2, 2}, Convolution{0, 0, 0, 0, 0, 5, 1, 1, 4}}) {
      ProgramRunner runner(convolution(c, width), target);
      ASSERT_EQ(runner.error(), "");
      for (int64_t size : {1, 3, 5, 7, 14, 16, 17, 28, 57, 130}) {
        c.images = 1 + size % 2;
        c.channels = size == 14 ? 65 : size == 1 ? 300 : 1 + size % 5;
        c.outputs = size == 7 ? 320 : 1 + size * 7 % 67;
        c.height = std::max<int64_t>(size, c.dilation * (c.kernel - 1) + 1);
        c.width = c.height + size % 3;
        expectConvolution(runner, c, random, width);
      }
    }
  }
}
