// Convolutions, compiled and run for many sizes, against plain loops in fp64; all buffers end at an unreadable page.
#include "test/codegen/FloatOperands.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace freestone;
using namespace freestone::test;

namespace {

struct Convolution {
  int64_t images, outputs, channels, height, width, kernel, stride, dilation, pad;
  /// Rectangles of pixels for max pooling.
  int64_t pooledRows = 1, pooledPixels = 1;
  int64_t extent(int64_t size) const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
};

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A convolution with bias and relu, with or without pooling; all sizes but the window's are symbols. Weights are
/// packed in panels of this many output channels, or plain (0).
std::string convolution(const Convolution &c, int64_t panelWidth = 0) {
  std::string text = R"(tile.program @conv symbols [n, o, c, h, w, y, x, v, u]
      (%x: !graph.tensor<[n, c, h, w], f32>, %w: !graph.tensor<[o, c, K, K], f32>, %bias: !graph.tensor<[o], f32>)
      -> (!graph.tensor<[n, o, v, u], f32>) {
    %r = tile.compute [n, o, y, x, c, K, K] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * S + d5 * D - P, d3 * S + d6 * D - P)>,
          %w : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) fill [0.0 : f32, unit] init [0.0 : f32] {)";
  text += multiplyAdd;
  text += R"( : (!graph.tensor<[n, c, h, w], f32>, !graph.tensor<[o, c, K, K], f32>) -> !graph.tensor<[n, o, y, x], f32>
    %s = tile.compute [n, o, v, u, Q, R] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%r : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * Q + d4, d3 * R + d5)>,
          %bias : affine_map<(d0, d1, d2, d3, d4, d5) -> (d1)>) init [0xFF800000 : f32] {
      ^bb0(%a: f32, %b: f32, %most: f32):
        %sum = arith.addf %a, %b : f32
        %zero = arith.constant 0.0 : f32
        %max = arith.maximumf %sum, %zero : f32
        %more = arith.maximumf %most, %max : f32
        tile.yield %more : f32
      } : (!graph.tensor<[n, o, y, x], f32>, !graph.tensor<[o], f32>) -> !graph.tensor<[n, o, v, u], f32>
    tile.return %s : !graph.tensor<[n, o, v, u], f32>
  })";
  if (c.pooledRows * c.pooledPixels == 1) {
    text = replaceAll(text, ", Q, R] [parallel, parallel, parallel, parallel, reduction, reduction]",
                      "] [parallel, parallel, parallel, parallel]");
    text = replaceAll(text, "d3, d4, d5) -> (d0, d1, d2 * Q + d4, d3 * R + d5)", "d3) -> (d0, d1, d2, d3)");
    text = replaceAll(text, "d3, d4, d5) -> (d1)>) init [0xFF800000 : f32]", "d3) -> (d1)>)");
    text = replaceAll(text, ", %most: f32", "");
    text = replaceAll(text, "%most", "%zero");
  }
  text = replaceAll(text, "Q", std::to_string(c.pooledRows));
  text = replaceAll(text, "R", std::to_string(c.pooledPixels));
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
  int64_t y = c.extent(c.height), x = c.extent(c.width), v = y / c.pooledRows, u = x / c.pooledPixels;
  GuardedMemory image = floats(c.images * c.channels * c.height * c.width);
  GuardedMemory weights = floats(c.outputs * c.channels * c.kernel * c.kernel), bias = floats(c.outputs);
  GuardedMemory result = floats(c.images * c.outputs * v * u);
  random.fill(image);
  random.fill(weights);
  random.fill(bias);
  std::fill_n(result.as<float>(), c.images * c.outputs * v * u, NAN);
  GuardedMemory packed = pack(weights, c, std::max<int64_t>(panelWidth, 1));
  runner.run(
      "conv",
      {image.as<void>(), panelWidth ? packed.as<void>() : weights.as<void>(), bias.as<void>(), result.as<void>()},
      {c.images, c.outputs, c.channels, c.height, c.width, y, x, v, u}, 2);
  auto getPixel = [&](int64_t number, int64_t output, int64_t row, int64_t column) {
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
    return std::max(sum, 0.0);
  };
  double worst = 0;
  for (int64_t i = 0; i < c.images * c.outputs * v * u; ++i) {
    int64_t column = i % u * c.pooledPixels, row = i / u % v * c.pooledRows;
    double expected = 0;
    for (int64_t tap = 0; tap < c.pooledRows * c.pooledPixels; ++tap)
      expected = std::max(expected, getPixel(i / u / v / c.outputs, i / u / v % c.outputs, row + tap / c.pooledPixels,
                                             column + tap % c.pooledPixels));
    double error = std::abs(result.as<float>()[i] - expected);
    worst = error <= worst ? worst : error;
  }
  EXPECT_LE(worst, 1e-4) << c.images << "x" << c.channels << "x" << c.height << "x" << c.width << " to " << c.outputs
                         << " by " << c.kernel << " stride " << c.stride << " pooled by " << c.pooledRows << "x"
                         << c.pooledPixels;
}

} // namespace

TEST(Convolution, PlainWithEpilogue) {
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

/// Rows of pixels and blocks of every length, several blocks of input channels, output channels that end within a
/// panel.
static void expectPacked(const std::vector<Convolution> &windows) {
  Random random(4);
  for (const std::string &target : levelsHere()) {
    const int64_t width = llvm::cantFail(DeviceDescription::get(target)).getPanelWidth(32);
    for (Convolution c : windows) {
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

/// Strides and dilations over rows.
TEST(Convolution, PackedWithEpilogue) {
  expectPacked({{0, 0, 0, 0, 0, 3, 1, 1, 1},
                {0, 0, 0, 0, 0, 3, 1, 1, 0},
                {0, 0, 0, 0, 0, 3, 1, 2, 2},
                {0, 0, 0, 0, 0, 5, 1, 1, 4},
                {0, 0, 0, 0, 0, 3, 2, 1, 1},
                {0, 0, 0, 0, 0, 3, 2, 1, 0},
                {0, 0, 0, 0, 0, 7, 2, 1, 3},
                {0, 0, 0, 0, 0, 3, 3, 2, 2},
                {0, 0, 0, 0, 0, 2, 5, 3, 1}});
}

/// Rectangles of every shape; sizes with a partial last rectangle, or none at all.
TEST(Convolution, PackedWithPooling) {
  expectPacked({{0, 0, 0, 0, 0, 3, 1, 1, 1, 2, 2},
                {0, 0, 0, 0, 0, 3, 1, 1, 0, 3, 2},
                {0, 0, 0, 0, 0, 3, 1, 2, 2, 1, 4},
                {0, 0, 0, 0, 0, 5, 1, 1, 2, 4, 1},
                {0, 0, 0, 0, 0, 3, 2, 1, 1, 2, 2}});
}
