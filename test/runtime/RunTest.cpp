#include "test/runtime/Models.h"

#include <cstdio>
#include <fstream>
#include <thread>
#include <xmmintrin.h>

using namespace freestone;
using namespace freestone::test;

TEST(Run, ComputesForEverySizeAndNumberOfWorkers) {
  Artifact artifact = loadReverse();
  for (int threads : {1, 2, 3, 4, 9}) {
    Instance instance(artifact, threads);
    EXPECT_EQ(instance.threads(), threads);
    for (int64_t n : {5, 1, 1000, 0, 7, 4099}) {
      std::vector<float> x = ramp(n);
      instance.setInput(0, viewOf(x));
      instance.run();
      Tensor y = instance.output(0);
      EXPECT_EQ(y.shape(), std::vector<int64_t>{n});
      EXPECT_EQ(valuesOf<float>(y), reversed(x)) << n << " on " << threads;
    }
  }
}

TEST(Run, DescribesTheModel) {
  Artifact artifact = loadLookup();
  ASSERT_EQ(artifact.inputs().size(), 2u);
  EXPECT_EQ(artifact.inputs()[1].name, "index");
  EXPECT_EQ(artifact.inputs()[1].dtype, FREESTONE_I64);
  EXPECT_EQ(artifact.outputs()[0].shape, std::vector<std::string>{"m"});
  freestone_symbol_info symbol = {};
  symbol.struct_size = sizeof(symbol);
  check(freestone_artifact_symbol(artifact.get(), 1, &symbol));
  EXPECT_STREQ(symbol.name, "m");
  EXPECT_EQ(symbol.upper, 1000);
  EXPECT_EQ(symbol.is_result, 0);
  char *json = nullptr;
  check(freestone_artifact_describe(artifact.get(), &json));
  EXPECT_NE(std::string(json).find("\"lookup\""), std::string::npos);
  freestone_free(json);
}

TEST(Run, LoadsFromAFile) {
  std::string path = testing::TempDir() + "freestone_loaded.stone";
  std::vector<uint8_t> bytes = packReverse();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  Artifact artifact = Artifact::load(path);
  std::remove(path.c_str());
  std::vector<float> x = ramp(10);
  Instance instance(artifact, 2);
  instance.setInput(0, viewOf(x));
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
}

TEST(Run, InstancesOfOneArtifactRunAtTheSameTime) {
  Artifact artifact = loadReverse();
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user)
    users.emplace_back([&artifact, user] {
      Instance instance(artifact, 1 + user % 3);
      for (int round = 0; round < 50; ++round) {
        std::vector<float> x = ramp(100 * user + round);
        instance.setInput(0, viewOf(x));
        instance.run();
        EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
      }
    });
  for (std::thread &user : users)
    user.join();
}

TEST(Run, RemembersThePlansOfRecentSizes) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 2);
  std::vector<float> large = ramp(3000), small = ramp(30);
  instance.setInput(0, viewOf(large));
  instance.run();
  freestone_counters first = countersOf(instance);
  for (int round = 0; round < 10; ++round) {
    instance.setInput(0, viewOf(round % 2 ? large : small));
    instance.run();
  }
  freestone_counters last = countersOf(instance);
  EXPECT_EQ(last.runs, 11u);
  EXPECT_EQ(last.phases, 22u);
  EXPECT_EQ(last.binds, first.binds + 1);
  EXPECT_EQ(last.plan_hits, 9u);
  EXPECT_EQ(last.allocations, first.allocations);
  EXPECT_EQ(last.planned_bytes, 3000u * 4);
  EXPECT_EQ(last.live_bytes, last.planned_bytes);
}

TEST(Run, SizesThatTheProgramFindsItself) {
  Artifact artifact = loadNonzero();
  Instance instance(artifact, 2);
  std::vector<float> x = {0, 3, 0, 0, 5, 6, 0};
  for (int round = 0; round < 3; ++round) {
    x[0] = static_cast<float>(round % 2);
    instance.setInput(0, viewOf(x));
    check(freestone_instance_prepare(instance.get()));
    int64_t dim = 0;
    check(freestone_instance_output_shape(instance.get(), 0, &dim));
    EXPECT_EQ(dim, 7); // the upper bound
    instance.run();
    std::vector<int64_t> positions = valuesOf<int64_t>(instance.output(0)),
                         doubles = valuesOf<int64_t>(instance.output(1));
    EXPECT_EQ(positions, round % 2 ? (std::vector<int64_t>{0, 1, 4, 5}) : (std::vector<int64_t>{1, 4, 5}));
    for (size_t i = 0; i < positions.size(); ++i)
      EXPECT_EQ(doubles[i], 2 * positions[i]);
  }
  EXPECT_EQ(countersOf(instance).entries, 3u);
}

TEST(Run, SizesThatAreElementsOfInputs) {
  Artifact artifact = loadPhases();
  Instance instance(artifact, 2);
  std::vector<int64_t> count = {10}, failing = {-1};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  instance.run();
  EXPECT_EQ(instance.output(0).data<int64_t>()[1], 10);
  count[0] = 20; // read again by every run
  instance.run();
  EXPECT_EQ(instance.output(0).data<int64_t>()[1], 20);
  count[0] = -1;
  std::string message = errorOf(FREESTONE_MISMATCH, [&] { instance.run(); });
  EXPECT_EQ(message, "element 0 of input 'count', count, is -1, but must be at least 0");
}

TEST(Run, TheCallersFloatingPointStateIsItsOwn) {
  Artifact artifact = loadReverse();
  Instance instance(artifact, 1);
  std::vector<float> x = {1e-39f}; // a denormal: doubled, unless denormals are flushed
  instance.setInput(0, viewOf(x));
  unsigned flushing = _mm_getcsr() | 0x8040;
  unsigned saved = _mm_getcsr();
  _mm_setcsr(flushing);
  instance.run();
  EXPECT_EQ(_mm_getcsr() & 0xffc0, flushing & 0xffc0);
  _mm_setcsr(saved);
}
