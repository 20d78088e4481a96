// Chains of a product and a depthwise window, compiled and run for many sizes, against plain loops in fp64; all buffers
// and the scratch end at an unreadable page.
#include "test/codegen/FloatOperands.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace freestone;
using namespace freestone::test;

namespace {

struct Chain {
  int64_t images, channels, height, width, kernel, stride, pad;
  int64_t extent(int64_t size) const { return (size + 2 * pad - kernel) / stride + 1; }
};

/// Channels out of the product: whole panels of any width.
constexpr int64_t outputs = 32;

std::string chain(const Chain &c, int64_t panelWidth) {
  std::string text = R"(tile.program @chain symbols [n, c, h, w, y, x]
      (%x: !graph.tensor<[n, c, h, w], f32>, %w: !graph.tensor<[c, 32], f32, #tile.panels<axis = 1, width = W>>,
       %d: !graph.tensor<[32, K, K], f32>) -> (!graph.tensor<[n, 32, y, x], f32>) {
    %wide = tile.compute [n, 32, h, w, c] [parallel, parallel, parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>,
          %w : affine_map<(d0, d1, d2, d3, d4) -> (d4, d1)>) init [0.0 : f32] {)";
  text += multiplyAdd;
  text += R"( : (!graph.tensor<[n, c, h, w], f32>, !graph.tensor<[c, 32], f32, #tile.panels<axis = 1, width = W>>)
        -> !graph.tensor<[n, 32, h, w], f32>
    %positive = tile.compute [n, 32, h, w] [parallel, parallel, parallel, parallel]
      ins(%wide : affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) {
      ^bb0(%a: f32):
        %zero = arith.constant 0.0 : f32
        %max = arith.maximumf %a, %zero : f32
        tile.yield %max : f32
      } : (!graph.tensor<[n, 32, h, w], f32>) -> !graph.tensor<[n, 32, h, w], f32>
    %last = tile.compute [n, 32, y, x, K, K] [parallel, parallel, parallel, parallel, reduction, reduction]
      ins(%positive : affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * S + d4 - P, d3 * S + d5 - P)>,
          %d : affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>) fill [0.0 : f32, unit] init [0.0 : f32] {)";
  text += multiplyAdd;
  text += R"( : (!graph.tensor<[n, 32, h, w], f32>, !graph.tensor<[32, K, K], f32>) -> !graph.tensor<[n, 32, y, x], f32>
    tile.return %last : !graph.tensor<[n, 32, y, x], f32>
  })";
  auto replaceEach = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replaceEach("width = W", "width = " + std::to_string(panelWidth));
  replaceEach("* S", "* " + std::to_string(c.stride));
  replaceEach(" P,", " " + std::to_string(c.pad) + ",");
  replaceEach(" P)", " " + std::to_string(c.pad) + ")");
  replaceEach("K", std::to_string(c.kernel));
  return text;
}

/// The largest error of all results, or NaN where one is missing.
double run(const ProgramRunner &runner, const Chain &c, int64_t panelWidth, int64_t calls, Random &random) {
  int64_t y = c.extent(c.height), x = c.extent(c.width), plane = c.height * c.width;
  GuardedMemory image = floats(c.images * c.channels * plane), weights = floats(c.channels * outputs);
  GuardedMemory taps = floats(outputs * c.kernel * c.kernel), result = floats(c.images * outputs * y * x);
  for (GuardedMemory *memory : {&image, &weights, &taps})
    random.fill(*memory);
  std::fill_n(result.as<float>(), c.images * outputs * y * x, NAN);
  runner.run("chain", {image.as<void>(), weights.as<void>(), taps.as<void>(), result.as<void>()},
             {c.images, c.channels, c.height, c.width, y, x}, calls);
  std::vector<double> middle(c.images * outputs * plane);
  for (int64_t number = 0; number < c.images; ++number)
    for (int64_t output = 0; output < outputs; ++output)
      for (int64_t place = 0; place < plane; ++place) {
        double sum = 0;
        for (int64_t channel = 0; channel < c.channels; ++channel)
          sum += double(image.as<float>()[(number * c.channels + channel) * plane + place]) *
                 weights.as<float>()[(output / panelWidth * c.channels + channel) * panelWidth + output % panelWidth];
        middle[(number * outputs + output) * plane + place] = std::max(sum, 0.0);
      }
  double worst = 0;
  for (int64_t i = 0; i < c.images * outputs * y * x; ++i) {
    double expected = 0;
    for (int64_t tap = 0; tap < c.kernel * c.kernel; ++tap) {
      int64_t row = i / x % y * c.stride + tap / c.kernel - c.pad, pixel = i % x * c.stride + tap % c.kernel - c.pad;
      if (row >= 0 && row < c.height && pixel >= 0 && pixel < c.width)
        expected += middle[i / x / y * plane + row * c.width + pixel] *
                    taps.as<float>()[i / x / y % outputs * c.kernel * c.kernel + tap];
    }
    double error = std::abs(result.as<float>()[i] - expected);
    worst = error <= worst ? worst : error;
  }
  return worst;
}

} // namespace

/// Tiles of a worker that keep rows, and first tiles that compute all of theirs; pictures smaller than a window.
TEST(Chain, ProductsAndWindows) {
  Random random(3);
  for (const std::string &target : levelsHere()) {
    const int64_t panelWidth = llvm::cantFail(DeviceDescription::get(target)).getPanelWidth(32);
    for (auto [kernel, stride, pad] : {std::tuple(3, 1, 1), {3, 2, 1}, {5, 1, 2}, {5, 4, 2}, {2, 1, 0}, {4, 3, 3}}) {
      Chain c = {1, 1, 1, 1, kernel, stride, pad};
      ProgramRunner runner(chain(c, panelWidth), target);
      ASSERT_EQ(runner.error(), "");
      for (int64_t number = 0; number < 16; ++number) {
        c.images = 1 + number % 3;
        c.channels = random.size() % 40 + 1;
        c.height = std::max<int64_t>(kernel, random.size());
        c.width = std::max<int64_t>(kernel, random.size() % 140);
        EXPECT_LE(run(runner, c, panelWidth, 1 + number % 4, random), 1e-4)
            << c.images << "x" << c.channels << "x" << c.height << "x" << c.width << " by " << kernel << " stride "
            << stride << " on " << target;
      }
    }
  }
}
