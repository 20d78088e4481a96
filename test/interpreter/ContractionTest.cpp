#include "compiler/interpreter/MatrixProduct.h"
#include "mlir/IR/BuiltinTypes.h"
#include "test/interpreter/RunText.h"
#include <cmath>

namespace freestone::interpreter {
namespace {

using ContractionTest = RunText;

/// The type of a tensor, as text.
std::string tensor(llvm::ArrayRef<int64_t> dims, llvm::StringRef type = "f32") {
  std::string text = "!graph.tensor<[";
  for (auto [index, dim] : llvm::enumerate(dims))
    text += (index ? ", " : "") + std::to_string(dim);
  return text + "], " + type.str() + ">";
}

TEST_F(ContractionTest, MatrixProductsOfAllRemainders) {
  for (int64_t m : {1, 3, 4, 9})
    for (int64_t n : {1, 15, 16, 35})
      for (int64_t k : {0, 1, 7, 300}) {
        std::vector<double> a = reals(random({m, k}, m + n)), b = reals(random({k, n}, n + k)), c(m * n, 1.0);
        addMatrixProduct(a.data(), b.data(), c.data(), m, n, k);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 1;
            for (int64_t p = 0; p < k; ++p)
              sum += a[i * k + p] * b[p * n + j];
            ASSERT_NEAR(c[i * n + j], sum, 1e-12) << m << "x" << n << "x" << k;
          }
      }
}

TEST_F(ContractionTest, Contract) {
  // Separated batch dimensions, and contracted dimensions in another order than in memory.
  auto results = runMain(
      R"((%a: !graph.tensor<[2, b, 3, m], f32>, %b: !graph.tensor<[3, n, 2, b], f32>) -> !graph.tensor<[b, m, n], f32> {
    %c = graph.contract %a, %b batch [1] x [3] contract [0, 2] x [2, 0] : !graph.tensor<[2, b, 3, m], f32>, !graph.tensor<[3, n, 2, b], f32>
    return %c : !graph.tensor<[b, m, n], f32>
  })",
      {random({2, 5, 3, 4}, 1), random({3, 6, 2, 5}, 2)});
  ASSERT_EQ(results.size(), 1u);
  std::vector<double> x = reals(random({2, 5, 3, 4}, 1)), y = reals(random({3, 6, 2, 5}, 2)), z;
  for (int b = 0; b < 5; ++b)
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 6; ++n) {
        double sum = 0;
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 3; ++j)
            sum += x[((i * 5 + b) * 3 + j) * 4 + m] * y[((j * 6 + n) * 2 + i) * 5 + b];
        z.push_back(sum);
      }
  EXPECT_EQ(results[0].dims, (std::vector<int64_t>{5, 4, 6}));
  expectNear(results[0], z);
}

TEST_F(ContractionTest, ContractBytesAsI32) {
  auto results = runMain(R"((%a: !graph.tensor<[2], i64>) -> !graph.tensor<[], i32> {
    %b = graph.cast %a to i8 : !graph.tensor<[2], i64>
    %c = graph.contract %b, %b batch [] x [] contract [0] x [0] as i32 : !graph.tensor<[2], i8>, !graph.tensor<[2], i8>
    return %c : !graph.tensor<[], i32>
  })",
                         {i64({2}, {100, 100})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(integers(results[0])[0], 20000);
}

/// A convolution over one spatial dimension, by the definition.
struct Convolution {
  int64_t images, channels, size, outputs, taps, stride, dilation, spread, low, high, groups;

  int64_t places() const { return ((size - 1) * spread + 1 + low + high - ((taps - 1) * dilation + 1)) / stride + 1; }
  std::vector<double> run(const std::vector<double> &x, const std::vector<double> &w) const {
    std::vector<double> y;
    int64_t perGroup = channels / groups;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t p = 0; p < places(); ++p) {
          double sum = 0;
          for (int64_t c = 0; c < perGroup; ++c)
            for (int64_t t = 0; t < taps; ++t) {
              int64_t position = p * stride + t * dilation - low, channel = o / (outputs / groups) * perGroup + c;
              if (position >= 0 && position % spread == 0 && position / spread < size)
                sum += x[(n * channels + channel) * size + position / spread] * w[(o * perGroup + c) * taps + t];
            }
          y.push_back(sum);
        }
    return y;
  }
};

TEST_F(ContractionTest, Convolve) {
  for (const Convolution &c :
       {Convolution{2, 3, 9, 4, 3, 1, 1, 1, 1, 1, 1}, Convolution{1, 4, 10, 6, 3, 2, 2, 1, 0, 3, 2},
        Convolution{2, 2, 5, 3, 4, 1, 1, 3, 3, 2, 1}, Convolution{1, 3, 8, 3, 2, 1, 1, 1, -1, -2, 3}}) {
    std::string x = tensor({c.images, c.channels, c.size}), w = tensor({c.outputs, c.channels / c.groups, c.taps});
    std::string y = tensor({c.images, c.outputs, c.places()});
    auto list = [](int64_t value) { return "[" + std::to_string(value) + "]"; };
    auto results =
        runMain("(%x: " + x + ", %w: " + w + ") -> " + y + " {\n %y = graph.convolve %x, %w strides " + list(c.stride) +
                    " dilations " + list(c.dilation) + " operand_dilation " + list(c.spread) + " low " + list(c.low) +
                    " high " + list(c.high) + " groups " + std::to_string(c.groups) + " : " + x + ", " + w +
                    "\n return %y : " + y + " }",
                {random({c.images, c.channels, c.size}, 1), random({c.outputs, c.channels / c.groups, c.taps}, 2)});
    ASSERT_EQ(results.size(), 1u);
    expectNear(results[0], c.run(reals(random({c.images, c.channels, c.size}, 1)),
                                 reals(random({c.outputs, c.channels / c.groups, c.taps}, 2))));
  }
}

TEST_F(ContractionTest, ConvolveOfTwoDimensions) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n, 1, h, w], f32>, %k: !graph.tensor<[1, 1, 2, 2], f32>) -> !graph.tensor<[n, 1, h - 1, w - 1], f32> {
    %y = graph.convolve %x, %k strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1
         : !graph.tensor<[n, 1, h, w], f32>, !graph.tensor<[1, 1, 2, 2], f32>
    return %y : !graph.tensor<[n, 1, h - 1, w - 1], f32>
  })",
      {f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), f32({1, 1, 2, 2}, {1, 10, 100, 1000})});
  ASSERT_EQ(results.size(), 1u);
  expectNear(results[0], {5421, 6532, 8754, 9865});
}

TEST_F(ContractionTest, Windows) {
  auto results = runMain(
      R"((%x: !graph.tensor<[n, s], f32>) -> (!graph.tensor<[n, s floordiv 2 + 1], f32>, !graph.tensor<[n, s floordiv 2 + 1], f32>,
                             !graph.tensor<[n, s floordiv 2 + 1], i64>, !graph.tensor<[n, s - 2], f32>) {
    %a = graph.window max %x sizes [2] strides [2] dilations [1] low [1] high [1] : !graph.tensor<[n, s], f32>
    %b = graph.window add %x sizes [2] strides [2] dilations [1] low [1] high [1] : !graph.tensor<[n, s], f32>
    %c = graph.window_argmax %x sizes [2] strides [2] dilations [1] low [1] high [1] : !graph.tensor<[n, s], f32>
    %d = graph.window max %x sizes [2] strides [1] dilations [2] low [0] high [0] : !graph.tensor<[n, s], f32>
    return %a, %b, %c, %d : !graph.tensor<[n, s floordiv 2 + 1], f32>, !graph.tensor<[n, s floordiv 2 + 1], f32>,
           !graph.tensor<[n, s floordiv 2 + 1], i64>, !graph.tensor<[n, s - 2], f32>
  })",
      {f32({2, 4}, {-1, -3, -2, -4, 1, 5, 5, 2})});
  ASSERT_EQ(results.size(), 4u);
  expectNear(results[0], {-1, -2, -4, 1, 5, 2});
  expectNear(results[1], {-1, -5, -4, 1, 10, 2});
  EXPECT_EQ(integers(results[2]), (std::vector<int64_t>{0, 2, 3, 0, 1, 3}));
  expectNear(results[3], {-1, -3, 5, 5});
}

TEST_F(ContractionTest, CompositesAreWhatTheySay) {
  auto results =
      run(R"(func.func @main(%x: !graph.tensor<[m, n], f64>) -> (!graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>,
      !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>) {
    %a = graph.softmax %x axis 1 : !graph.tensor<[m, n], f64>
    %b = graph.log_softmax %x axis 0 : !graph.tensor<[m, n], f64>
    %c = graph.layer_norm %x axis 1 epsilon 0.5 : !graph.tensor<[m, n], f64>
    %d = graph.rms_norm %x axis 0 epsilon 0.5 : !graph.tensor<[m, n], f64>
    %e = graph.gelu exact %x : !graph.tensor<[m, n], f64>
    %f = graph.gelu tanh %x : !graph.tensor<[m, n], f64>
    return %a, %b, %c, %d, %e, %f : !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>,
           !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>, !graph.tensor<[m, n], f64>
  })",
          {f64({2, 2}, {1, 3, 2, 0})});
  ASSERT_EQ(results.size(), 6u);
  double high = 1 / (1 + std::exp(-2.0)), low = 1 - high;
  expectNear(results[0], {low, high, high, low}, 1e-14);
  auto share = [](double a, double b) { return a - std::log(std::exp(a) + std::exp(b)); };
  expectNear(results[1], {share(1, 2), share(3, 0), share(2, 1), share(0, 3)}, 1e-14);
  double scale = 1 / std::sqrt(1.5);
  expectNear(results[2], {-scale, scale, scale, -scale}, 1e-14);
  scale = 1 / std::sqrt(14 / 4.0 + 0.5);
  expectNear(results[3], {scale, 3 * scale, 2 * scale, 0}, 1e-14);
  auto normal = [](double x) { return x * 0.5 * (1 + std::erf(x * M_SQRT1_2)); };
  expectNear(results[4], {normal(1), normal(3), normal(2), 0}, 1e-14);
  auto smooth = [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); };
  expectNear(results[5], {smooth(1), smooth(3), smooth(2), 0}, 1e-14);
}

TEST_F(ContractionTest, Attention) {
  auto results = runMain(
      R"((%q: !graph.tensor<[2, s, 3], f32>, %k: !graph.tensor<[2, t, 3], f32>, %v: !graph.tensor<[2, t, 4], f32>,
                             %m: !graph.tensor<[2, s, t], f32>) -> !graph.tensor<[2, s, 4], f32> {
    %y = graph.attention %q, %k, %v mask %m : !graph.tensor<[2, s, t], f32>, scale 0.5 causal <t - s> {softcap = 2.0 : f64}
         : !graph.tensor<[2, s, 3], f32>, !graph.tensor<[2, t, 3], f32>, !graph.tensor<[2, t, 4], f32>
    return %y : !graph.tensor<[2, s, 4], f32>
  })",
      {random({2, 3, 3}, 1), random({2, 5, 3}, 2), random({2, 5, 4}, 3), random({2, 3, 5}, 4)});
  ASSERT_EQ(results.size(), 1u);
  std::vector<double> q = reals(random({2, 3, 3}, 1)), k = reals(random({2, 5, 3}, 2)), v = reals(random({2, 5, 4}, 3));
  std::vector<double> mask = reals(random({2, 3, 5}, 4)), expected;
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 3; ++i) {
      std::vector<double> weight(5, 0.0), row(4, 0.0);
      double sum = 0;
      for (int j = 0; j <= i + 2; ++j) {
        double score = 0;
        for (int d = 0; d < 3; ++d)
          score += q[(b * 3 + i) * 3 + d] * k[(b * 5 + j) * 3 + d];
        sum += weight[j] = std::exp(2 * std::tanh(score * 0.5 / 2) + mask[(b * 3 + i) * 5 + j]);
      }
      for (int j = 0; j < 5; ++j)
        for (int e = 0; e < 4; ++e)
          row[e] += weight[j] / sum * v[(b * 5 + j) * 4 + e];
      expected.insert(expected.end(), row.begin(), row.end());
    }
  expectNear(results[0], expected);
}

} // namespace
} // namespace freestone::interpreter
