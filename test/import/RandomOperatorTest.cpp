// Operators that draw random numbers: distributions, seeds, and which outputs depend on them.
#include "test/import/TextModel.h"

#include "compiler/interpreter/Interpreter.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace freestone;
using namespace freestone::test;
using interpreter::HostTensor;

namespace {

/// Dropout of many ones, with run-time ratio and mode: its result and mask.
std::pair<std::vector<float>, std::vector<bool>> drop(float ratio, bool trains,
                                                      const std::string &seed = "<seed = 3>") {
  Imported model =
      importText("agraph (float[n, 100] x, float r, bool t) => (float[n, 100] y, bool[n, 100] z) { y, z = Dropout" +
                 seed + "(x, r, t) }");
  EXPECT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get()), i1 = mlir::IntegerType::get(model.context.get(), 1);
  auto outputs = interpreter::interpret(model.main(),
                                        {HostTensor::copy<float>(f32, {200, 100}, std::vector<float>(20000, 1)),
                                         HostTensor::copy<float>(f32, {}, std::vector<float>{ratio}),
                                         HostTensor::copy<uint8_t>(i1, {}, std::vector<uint8_t>{trains})},
                                        *model.model.weights);
  EXPECT_TRUE(mlir::succeeded(outputs));
  auto mask = (*outputs)[1].elements<uint8_t>();
  return {(*outputs)[0].elements<float>().vec(), std::vector<bool>(mask.begin(), mask.end())};
}

TEST(RandomOperator, DropoutKeepsAsManyAsItSaysAndScalesThem) {
  for (float ratio : {0.25f, 0.75f}) {
    auto [y, kept] = drop(ratio, true);
    int64_t count = llvm::count(kept, true);
    // Four standard deviations of 20,000 draws.
    EXPECT_NEAR(count / 20000.0, 1 - ratio, 4 * std::sqrt(ratio * (1 - ratio) / 20000));
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_FLOAT_EQ(y[i], kept[i] ? 1 / (1 - ratio) : 0);
  }
}

TEST(RandomOperator, DropoutThatIsTurnedOffPassesAllOn) {
  for (auto [ratio, trains] : {std::pair(0.0f, true), {0.5f, false}, {0.0f, false}}) {
    auto [y, kept] = drop(ratio, trains);
    EXPECT_EQ(llvm::count(y, 1), 20000);
    EXPECT_EQ(llvm::count(kept, true), 20000);
  }
}

TEST(RandomOperator, OneSeedDropsTheSame) {
  EXPECT_EQ(drop(0.5, true).second, drop(0.5, true).second);
  EXPECT_NE(drop(0.5, true).second, drop(0.5, true, "<seed = 4>").second);
  EXPECT_EQ(drop(0.5, true, "").second, drop(0.5, true, "").second);
}

TEST(RandomOperator, BernoulliDrawsByTheProbabilityOfEachElement) {
  Imported model = importText("agraph (float[n] x) => (float[n] y, float[n] z) { y = Bernoulli(x) z = Bernoulli(x) }");
  ASSERT_TRUE(model.model.module) << model.reason();
  std::vector<float> x;
  for (float probability : {0.0f, 0.2f, 0.7f, 1.0f})
    x.insert(x.end(), 10000, probability);
  mlir::Type f32 = mlir::Float32Type::get(model.context.get());
  auto outputs = interpreter::interpret(model.main(), {HostTensor::copy<float>(f32, {40000}, x)}, *model.model.weights);
  ASSERT_TRUE(mlir::succeeded(outputs));
  auto y = (*outputs)[0].elements<float>(), z = (*outputs)[1].elements<float>();
  for (size_t block = 0; block < 4; ++block) {
    double probability = x[block * 10000], allowed = 4 * std::sqrt(probability * (1 - probability) / 10000);
    EXPECT_NEAR(llvm::count(y.slice(block * 10000, 10000), 1) / 10000.0, probability, allowed);
    EXPECT_EQ(llvm::count_if(y.slice(block * 10000, 10000), [](float value) { return value != 0 && value != 1; }), 0);
  }
  EXPECT_NE(y.vec(), z.vec());
}

TEST(RandomOperator, RandomNumbersHaveTheirDistribution) {
  Imported model = importText(R"(agraph (float[n] x) => (float[n] u, float[n] g, float[n] s)
    { u = RandomUniformLike<low = -1.0, high = 3.0>(x) g = RandomNormalLike<mean = 2.0, scale = 0.5>(x)
      s = RandomNormalLike<mean = 2.0, scale = 0.5, seed = 7.0>(x) })");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get());
  auto outputs = interpreter::interpret(
      model.main(), {HostTensor::copy<float>(f32, {40000}, std::vector<float>(40000))}, *model.model.weights);
  ASSERT_TRUE(mlir::succeeded(outputs));
  auto moments = [](llvm::ArrayRef<float> values) {
    double mean = 0, square = 0;
    for (float value : values)
      mean += value, square += double(value) * value;
    mean /= values.size();
    return std::pair(mean, square / values.size() - mean * mean);
  };
  auto [uniformMean, uniformVariance] = moments((*outputs)[0].elements<float>());
  EXPECT_NEAR(uniformMean, 1, 0.03);
  EXPECT_NEAR(uniformVariance, 16.0 / 12, 0.03);
  for (float value : (*outputs)[0].elements<float>())
    ASSERT_TRUE(value >= -1 && value < 3);
  for (size_t output : {1, 2}) {
    auto [mean, variance] = moments((*outputs)[output].elements<float>());
    EXPECT_NEAR(mean, 2, 0.02);
    EXPECT_NEAR(variance, 0.25, 0.01);
  }
}

// Of bf16, one number in 512 would round to 1; of f16, one in 4,096.
TEST(RandomOperator, UniformNumbersNeverReachTheirEnd) {
  Imported model = importText(R"(agraph (float[n] x) => (float[n] b, float[n] h, float[n] f, double[n] d, float[n] p)
    { brain = RandomUniformLike<dtype = 16>(x) half = RandomUniformLike<dtype = 10>(x)
      f = RandomUniformLike<low = 1.0, high = 1.000001>(x) d = RandomUniformLike<dtype = 11, low = 0.1, high = 0.2>(x)
      point = RandomUniformLike<dtype = 16, low = 1.001, high = 1.002>(x)
      b = Cast<to = 1>(brain) h = Cast<to = 1>(half) p = Cast<to = 1>(point) })");
  ASSERT_TRUE(model.model.module) << model.reason();
  mlir::Type f32 = mlir::Float32Type::get(model.context.get());
  auto outputs = interpreter::interpret(
      model.main(), {HostTensor::copy<float>(f32, {100000}, std::vector<float>(100000))}, *model.model.weights);
  ASSERT_TRUE(mlir::succeeded(outputs));
  std::pair<float, float> ends[] = {{0, 1}, {0, 1}, {1, 1.000001f}};
  for (auto [output, end] : llvm::zip(*outputs, ends))
    for (float value : output.elements<float>())
      ASSERT_TRUE(value >= end.first && value < end.second) << value;
  for (double value : (*outputs)[3].elements<double>())
    ASSERT_TRUE(value >= 0.1f && value < 0.2f) << value;
  // There is no bf16 from 1.001 to 1.002.
  EXPECT_EQ(llvm::count((*outputs)[4].elements<float>(), 1), 100000);
}

TEST(RandomOperator, RandomNumbersAskForARange) {
  for (const char *ends : {"low = 2.0, high = 1.0", "low = 0.0, high = inf"})
    EXPECT_NE(importText(std::string("agraph (float[n] x) => (float[n] y) { y = RandomUniformLike<") + ends + ">(x) }")
                  .reason()
                  .find("low not above high"),
              std::string::npos);
}

TEST(RandomOperator, RandomNumbersReachOutputs) {
  // Outputs that depend on the values, even through a body, but not those that depend on the shape alone.
  Imported model = importText(R"(agraph (float[n] x, float r, bool t, bool c)
      => (float[n] drawn, float[n] chosen, float[n] plain, int64[1] size, float[n] dropped)
    { noise = RandomUniformLike(x) drawn = Add(noise, x) size = Shape(drawn) plain = Neg(x)
      chosen = If(c) <then_branch = a () => (float[n] p) { p = Mul(noise, x) },
                      else_branch = b () => (float[n] q) { q = Neg(x) }>
      dropped = Dropout(x, r, t) })");
  ASSERT_TRUE(model.model.module) << model.reason();
  const std::vector<RandomNode> &random = model.model.report.random;
  ASSERT_EQ(random.size(), 2u);
  EXPECT_EQ(random[0].outputs, (std::vector<std::string>{"drawn", "chosen"}));
  EXPECT_TRUE(random[0].switches.empty());
  EXPECT_EQ(random[1].outputs, (std::vector<std::string>{"dropped"}));
  EXPECT_EQ(random[1].switches, (std::vector<std::string>{"r", "t"}));
}

} // namespace
