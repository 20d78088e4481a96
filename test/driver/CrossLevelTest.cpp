// Lowered loops, services of a library and operators of the graph mixed in one function: the interpreter evaluates it
// as it is, and the rest of the pipeline compiles it to an artifact with the same results.
#include "freestone/freestone.h"
#include "test/driver/CompileModule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>

using namespace freestone;
using namespace freestone::test;

namespace {

const char *const text = R"mlir(
func.func @main(%x: !graph.tensor<[n, 5], f32> {graph.name = "x"}) -> (!graph.tensor<[n, 8], f32> {graph.name = "y"})
    attributes {graph.symbols = {n = #sym.bounds<[0, inf]>}} {
  %w = graph.weight "w" : !graph.tensor<[5, 8], f32>
  %a = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[n, 5], f32>, !graph.tensor<[5, 8], f32>
  %b = graph.unary tanh %a : !graph.tensor<[n, 8], f32>
  %c = graph.softmax %b axis 1 : !graph.tensor<[n, 8], f32>
  return %c : !graph.tensor<[n, 8], f32>
}
)mlir";

const char *const mixed = "func.func(tile-use-library{op=graph.unary service=test.tanh version=2},"
                          "graph-to-tile{only=graph.contract})";

std::vector<float> weightOf() {
  std::vector<float> w(5 * 8);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 0.3f * std::sin(1.7f * static_cast<float>(i));
  return w;
}

std::vector<float> inputOf(int64_t n) {
  std::vector<float> x(n * 5);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(0.9f * static_cast<float>(i));
  return x;
}

/// softmax(tanh(x·w)) in double precision.
std::vector<double> expectedOf(const std::vector<float> &x) {
  std::vector<float> w = weightOf();
  std::vector<double> y;
  for (size_t row = 0; row < x.size() / 5; ++row) {
    double sum = 0;
    std::vector<double> powers(8);
    for (int column = 0; column < 8; ++column) {
      double dot = 0;
      for (int k = 0; k < 5; ++k)
        dot += double(x[5 * row + k]) * w[8 * k + column];
      sum += powers[column] = std::exp(std::tanh(dot));
    }
    for (double power : powers)
      y.push_back(power / sum);
  }
  return y;
}

void expectNear(const std::vector<float> &actual, const std::vector<double> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-6) << i;
}

/// The library: tanh, counting its calls.
int32_t computeTanh(void *user, const DLTensor *inputs, size_t inputCount, const DLTensor *outputs,
                    size_t outputCount) {
  if (inputCount != 1 || outputCount != 1 || inputs->ndim != 2 || inputs->shape[1] != 8 ||
      inputs->shape[0] != outputs->shape[0] || inputs->dtype.code != kDLFloat || inputs->dtype.bits != 32)
    return 7;
  ++*static_cast<int *>(user);
  auto *x = static_cast<const float *>(inputs->data);
  auto *y = static_cast<float *>(outputs->data);
  for (int64_t i = 0; i < inputs->shape[0] * inputs->shape[1]; ++i)
    y[i] = std::tanh(x[i]);
  return 0;
}

int32_t fail(void *, const DLTensor *, size_t, const DLTensor *, size_t) { return 42; }

mlir::LogicalResult interpretTanh(llvm::StringRef name, int64_t version, llvm::ArrayRef<interpreter::HostTensor> inputs,
                                  llvm::MutableArrayRef<interpreter::HostTensor> outputs) {
  if (name != "test.tanh" || version != 2)
    return mlir::failure();
  auto *to = reinterpret_cast<float *>(outputs[0].bytes.data());
  for (float value : inputs[0].elements<float>())
    *to++ = std::tanh(value);
  return mlir::success();
}

struct MixedModule : CompileModule {
  MixedModule() : CompileModule(text) {
    addWeight("w", {5, 8}, weightOf());
    run(mixed);
  }
};

Artifact compileMixed() {
  MixedModule module;
  std::string path = testing::TempDir() + "freestone_cross_level.stone";
  module.finish(path);
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());
  return artifact;
}

freestone_instance_options optionsOf(const freestone_service &service, int threads) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.services = &service;
  options.service_count = 1;
  return options;
}

std::string refusalOf(const Artifact &artifact, const freestone_instance_options &options) {
  try {
    Instance instance(artifact, options);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), FREESTONE_INCOMPATIBLE);
    return error.what();
  }
  return "not refused";
}

TEST(CrossLevel, ThreeLevelsInOneFunctionAreInterpreted) {
  MixedModule module;
  EXPECT_THAT(module.operations(),
              testing::ElementsAre("graph.weight", "tile.compute", "tile.library", "graph.softmax"));
  for (int64_t n : {1, 2, 7})
    expectNear(module.interpret({n, 5}, inputOf(n), interpretTanh), expectedOf(inputOf(n)));
  // Only the loops become a program.
  module.run("tile-outline");
  EXPECT_THAT(module.operations(), testing::ElementsAre("graph.weight", "tile.call", "tile.library", "graph.softmax"));
  expectNear(module.interpret({3, 5}, inputOf(3), interpretTanh), expectedOf(inputOf(3)));
}

TEST(CrossLevel, TheRestOfThePipelineFinishesIt) {
  Artifact artifact = compileMixed();
  for (int threads : {1, 2, 3}) {
    int calls = 0;
    freestone_service service = {"test.tanh", 2, computeTanh, &calls};
    Instance instance(artifact, optionsOf(service, threads));
    int runs = 0;
    for (int64_t n : {1, 2, 7, 300, 1}) {
      std::vector<float> x = inputOf(n);
      instance.setInput(0, {x.data(), {n, 5}});
      instance.run();
      Tensor y = instance.output(0);
      expectNear({y.data<float>(), y.data<float>() + y.size()}, expectedOf(x));
      EXPECT_EQ(calls, ++runs);
    }
  }
}

TEST(CrossLevel, RefusesByNameWhatIsNotThere) {
  Artifact artifact = compileMixed();
  int calls = 0;
  freestone_instance_options none = {};
  none.struct_size = sizeof(none);
  EXPECT_EQ(refusalOf(artifact, none),
            "the model needs the service 'test.tanh', version 2, which the application does not offer");
  freestone_service older = {"test.tanh", 1, computeTanh, &calls};
  EXPECT_EQ(refusalOf(artifact, optionsOf(older, 1)),
            "the model needs the service 'test.tanh', version 2, but the application offers version 1");
}

TEST(CrossLevel, AServiceThatFailsEndsTheRun) {
  Artifact artifact = compileMixed();
  freestone_service service = {"test.tanh", 2, fail, nullptr};
  for (int threads : {1, 3}) {
    Instance instance(artifact, optionsOf(service, threads));
    std::vector<float> x = inputOf(2);
    instance.setInput(0, {x.data(), {2, 5}});
    for (int run = 0; run < 2; ++run) {
      try {
        instance.run();
        ADD_FAILURE() << "no error";
      } catch (const Error &error) {
        EXPECT_EQ(error.status(), FREESTONE_RUN_FAILED);
        EXPECT_STREQ(error.what(), "node 'test.tanh': the service 'test.tanh', version 2, failed with 42");
      }
    }
  }
}

} // namespace
