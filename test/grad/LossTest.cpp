#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Losses.h"
#include "test/grad/GradientCheck.h"
#include "test/grad/Reference.h"
#include <cmath>

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

class LossTest : public GradientCheck {
protected:
  HostTensor logits(std::vector<int64_t> dims) {
    std::vector<double> values(HostTensor::allocate(Float64Type::get(&context), dims).getNumElements());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(1.7 * i + 0.3) * 3;
    return f64(dims, values);
  }
  HostTensor targets(double scale = 1, double shift = 0) {
    std::vector<double> values(12);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::cos(0.9 * i + 0.1) * scale + shift;
    return f64({4, 3}, values);
  }
  HostTensor classWeights() { return f64({3}, {0.5, 2.0, 1.25}); }

  using BuildLoss = llvm::function_ref<Loss(OpBuilder &, Location, ValueRange)>;
  /// The mean, and its gradient with respect to the first argument.
  std::vector<HostTensor> run(ArrayRef<std::string> signature, BuildLoss build, ArrayRef<HostTensor> inputs) {
    auto whole = [&](OpBuilder &builder, ValueRange arguments) {
      Location location = builder.getUnknownLoc();
      Value mean = buildMean(builder, location, build(builder, location, arguments));
      auto gradients = differentiate(mean, {arguments[0]});
      EXPECT_TRUE(succeeded(gradients));
      return SmallVector<Value>{mean, (*gradients)[0]};
    };
    return runBuilt(signature, whole, inputs);
  }
  void expectReference(const std::string &name, ArrayRef<std::string> signature, BuildLoss build,
                       ArrayRef<HostTensor> inputs) {
    SCOPED_TRACE(name);
    std::vector<HostTensor> results = run(signature, build, inputs);
    ASSERT_EQ(results.size(), 2u);
    std::vector<double> both = reals(results[0]), expected = reference::losses.at(name).front();
    llvm::append_range(both, reals(results[1]));
    ASSERT_EQ(both.size(), expected.size());
    for (size_t i = 0; i < both.size(); ++i)
      EXPECT_NEAR(both[i], expected[i], 1e-12) << i;
  }
  void expectClasses(const std::string &name, const ClassLossOptions &options, std::vector<int64_t> labels,
                     bool weighted = false) {
    auto build = [&](OpBuilder &builder, Location location, ValueRange a) {
      ClassLossOptions given = options;
      given.classWeights = weighted ? a[2] : Value();
      return buildSoftmaxCrossEntropy(builder, location, a[0], a[1], given);
    };
    expectReference(name, {"[n, c], f64", "[n], i64", "[c], f64"}, build,
                    {logits({4, 3}), i64({4}, labels), classWeights()});
  }
  void expectElements(const std::string &name, Loss (*build)(OpBuilder &, Location, Value, Value), HostTensor given) {
    expectReference(
        name, {"[n, c], f64", "[n, c], f64"},
        [&](OpBuilder &builder, Location location, ValueRange a) { return build(builder, location, a[0], a[1]); },
        {logits({4, 3}), given});
  }
};

TEST_F(LossTest, SoftmaxCrossEntropy) {
  ClassLossOptions smoothed, ignored;
  smoothed.labelSmoothing = 0.1;
  ignored.ignoreIndex = 0;
  expectClasses("crossEntropy", {}, {2, 0, -100, 1});
  expectClasses("crossEntropyWeighted", {}, {2, 0, -100, 1}, true);
  expectClasses("crossEntropySmoothed", smoothed, {2, 0, -100, 1});
  expectClasses("crossEntropyBoth", smoothed, {2, 0, -100, 1}, true);
  expectClasses("crossEntropyIgnored", ignored, {2, 0, 0, 1});
}

TEST_F(LossTest, ClassAxis) {
  auto build = [](OpBuilder &builder, Location location, ValueRange a) {
    ClassLossOptions options;
    options.labelSmoothing = 0.2;
    options.classWeights = a[2];
    options.classAxis = -2;
    return buildSoftmaxCrossEntropy(builder, location, a[0], a[1], options);
  };
  expectReference("crossEntropyGrid", {"[n, c, s], f64", "[n, s], i64", "[c], f64"}, build,
                  {logits({2, 3, 3}), i64({2, 3}, {1, 0, 2, -100, 2, 2}), classWeights()});
}

TEST_F(LossTest, NegativeLogLikelihood) {
  auto build = [](OpBuilder &builder, Location location, ValueRange a) {
    ClassLossOptions options;
    options.classWeights = a[2];
    return buildNegativeLogLikelihood(builder, location, a[0], a[1], options);
  };
  expectReference("negativeLogLikelihood", {"[n, c], f64", "[n], i64", "[c], f64"}, build,
                  {logits({4, 3}), i64({4}, {2, 0, -100, 1}), classWeights()});
}

TEST_F(LossTest, SigmoidCrossEntropy) {
  auto build = [](OpBuilder &builder, Location location, ValueRange a) {
    return buildSigmoidCrossEntropy(builder, location, a[0], a[1], a.size() > 2 ? a[2] : Value());
  };
  expectReference("sigmoidCrossEntropy", {"[n, c], f64", "[n, c], f64"}, build, {logits({4, 3}), targets(0.5, 0.5)});
  expectReference("sigmoidCrossEntropyWeighted", {"[n, c], f64", "[n, c], f64", "[c], f64"}, build,
                  {logits({4, 3}), targets(0.5, 0.5), classWeights()});
  // Far from 0, and at 0, where its parts have kinks: sigmoid - target.
  std::vector<HostTensor> results =
      run({"[n], f64", "[n], i1"}, build, {f64({3}, {-1000, 0, 1000}), i1({3}, {1, 1, 0})});
  expectNear(results[0], {(2000 + std::log(2.0)) / 3});
  expectNear(results[1], {-1.0 / 3, -0.5 / 3, 1.0 / 3});
}

TEST_F(LossTest, Elementwise) {
  expectElements("meanSquaredError", buildMeanSquaredError, targets());
  expectElements("l1", buildL1, targets());
  expectElements("huber", [](OpBuilder &b, Location l, Value x, Value y) { return buildHuber(b, l, x, y); }, targets());
  expectElements(
      "huberNarrow", [](OpBuilder &b, Location l, Value x, Value y) { return buildHuber(b, l, x, y, 0.4); }, targets());
  expectElements(
      "cosine", [](OpBuilder &b, Location l, Value x, Value y) { return buildCosine(b, l, x, y, -1); }, targets());
}

/// Sums and counts of parts add up to those of the whole.
TEST_F(LossTest, Accumulation) {
  auto parts = [&](std::vector<int64_t> labels) {
    int64_t count = labels.size();
    return runBuilt({"[n, c], f64", "[n], i64", "[c], f64"},
                    [](OpBuilder &builder, ValueRange a) {
                      ClassLossOptions options;
                      options.classWeights = a[2];
                      Loss loss = buildSoftmaxCrossEntropy(builder, builder.getUnknownLoc(), a[0], a[1], options);
                      return SmallVector<Value>{loss.sum, loss.count};
                    },
                    {logits({count, 3}), i64({count}, labels), classWeights()});
  };
  EXPECT_EQ(reals(parts({2, 0, -100})[1]).front(), 1.75);
  EXPECT_EQ(reals(parts({-100})[1]).front(), 0);
  EXPECT_EQ(reals(parts({-100})[0]).front(), 0);
  EXPECT_EQ(reals(parts({})[0]).front(), 0);
}

/// A label out of range makes the loss NaN; labels may have narrow and unsigned types.
TEST_F(LossTest, Labels) {
  auto build = [](OpBuilder &builder, Location location, ValueRange a) {
    return buildSoftmaxCrossEntropy(builder, location, a[0], a[1]);
  };
  for (int64_t wrong : {-1, 3})
    EXPECT_TRUE(
        std::isnan(reals(run({"[n, c], f64", "[n], i64"}, build, {logits({2, 3}), i64({2}, {0, wrong})})[0])[0]));
  HostTensor bytes = HostTensor::copy<uint8_t>(IntegerType::get(&context, 8, IntegerType::Unsigned), {2}, {0, 2});
  std::vector<HostTensor> narrow = run({"[n, c], f64", "[n], ui8"}, build, {logits({2, 3}), bytes});
  std::vector<HostTensor> wide = run({"[n, c], f64", "[n], i64"}, build, {logits({2, 3}), i64({2}, {0, 2})});
  EXPECT_EQ(narrow[1].bytes, wide[1].bytes);
}

/// The loss of narrow logits is f32, and the gradient narrow.
TEST_F(LossTest, Narrow) {
  auto build = [](OpBuilder &builder, Location location, ValueRange a) {
    return buildSoftmaxCrossEntropy(builder, location, a[0], a[1]);
  };
  std::vector<HostTensor> results = run({"[n, c], bf16", "[n], i64"}, build,
                                        {HostTensor::allocate(BFloat16Type::get(&context), {2, 4}), i64({2}, {0, 3})});
  EXPECT_TRUE(results[0].elementType.isF32());
  EXPECT_TRUE(results[1].elementType.isBF16());
  expectNear(results[0], {std::log(4.0)});
  expectNear(results[1], {-0.375, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, -0.375});
}

} // namespace

} // namespace freestone::grad
