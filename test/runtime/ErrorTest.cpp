#include "test/runtime/Models.h"

using namespace freestone;
using namespace freestone::test;

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Error, InputsThatDoNotFit) {
  Artifact artifact = loadLookup();
  Instance instance(artifact, 1);
  std::vector<float> table = ramp(10);
  std::vector<int64_t> index = {1, 2};
  auto refusal = [&](size_t input, TensorRef tensor) {
    return errorOf(FREESTONE_MISMATCH, [&] { instance.setInput(input, tensor); });
  };
  EXPECT_EQ(refusal(0, viewOf(index)), "input 'table' must be f32, but is i64");
  EXPECT_EQ(refusal(1, viewOf(table)), "input 'index' must be i64, but is f32");
  EXPECT_EQ(refusal(0, {table.data(), {2, 5}}), "input 'table' must have rank 1, but has rank 2");
  EXPECT_MENTIONS(refusal(0, {table.data(), {-1}}), "negative dimension");
  EXPECT_MENTIONS(refusal(0, {table.data(), {INT64_MAX}}), "more than 2^63 bytes");
  EXPECT_MENTIONS(refusal(0, {reinterpret_cast<float *>(reinterpret_cast<char *>(table.data()) + 1), {3}}),
                  "aligned to its element");

  DLTensor strided = *viewOf(table).get();
  int64_t shape = 5, stride = 2;
  strided.shape = &shape;
  strided.strides = &stride;
  EXPECT_EQ(freestone_instance_set_input(instance.get(), 0, &strided), FREESTONE_MISMATCH);
  EXPECT_MENTIONS(std::string(freestone_last_error()), "C-contiguous");
  shape = 1; // the stride of a single element is ignored
  EXPECT_EQ(freestone_instance_set_input(instance.get(), 0, &strided), FREESTONE_OK);
  strided.device.device_type = kDLCUDA;
  EXPECT_EQ(freestone_instance_set_input(instance.get(), 0, &strided), FREESTONE_MISMATCH);
}

TEST(Error, SizesThatContradict) {
  Artifact artifact = loadLookup();
  Instance instance(artifact, 1);
  std::vector<float> table = ramp(3);
  std::vector<int64_t> index(4, 0), many(1001, 0);
  instance.setInput(0, viewOf(table));
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.run(); }), "input 'index' is not set");
  instance.setInput(1, viewOf(index));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }), "the length of 'index' is 4, but must be at most 3");
  instance.setInput(1, viewOf(many));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { instance.run(); }),
            "dimension 0 of input 'index', m, is 1001, but must be at most 1000");

  Artifact phases = loadPhases();
  Instance fixed(phases, 1);
  fixed.setInput(0, viewOf(many));
  fixed.setInput(1, viewOf(index));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { fixed.run(); }), "dimension 0 of input 'count' must be 1, but is 1001");
}

TEST(Error, DataThatMakeAResultUndefined) {
  Artifact artifact = loadLookup();
  std::vector<float> table = ramp(5);
  for (int threads : {1, 3}) {
    Instance instance(artifact, threads);
    instance.setInput(0, viewOf(table));
    for (std::vector<int64_t> index : {std::vector<int64_t>{0, 5}, {0, 1, -1}, {9}}) {
      instance.setInput(1, viewOf(index));
      EXPECT_EQ(errorOf(FREESTONE_RUN_FAILED, [&] { instance.run(); }),
                "program 'p0', node '/embed/Gather': an index is out of range");
    }
    std::vector<int64_t> index = {4, 0};
    instance.setInput(1, viewOf(index));
    instance.run();
    EXPECT_EQ(valuesOf<float>(instance.output(0)), (std::vector<float>{5, 1}));
  }
}

TEST(Error, ArgumentsThatAreWrong) {
  freestone_artifact *none = nullptr;
  EXPECT_EQ(freestone_artifact_load(nullptr, nullptr, &none), FREESTONE_INVALID_ARGUMENT);
  EXPECT_EQ(freestone_artifact_load("/no/such/file", nullptr, &none), FREESTONE_IO);
  EXPECT_MENTIONS(std::string(freestone_last_error()), "'/no/such/file'");
  EXPECT_EQ(freestone_artifact_load("/", nullptr, &none), FREESTONE_IO);
  EXPECT_EQ(freestone_artifact_load("/dev/null", nullptr, &none), FREESTONE_IO);
  EXPECT_EQ(freestone_artifact_load_memory("short", 5, nullptr, &none), FREESTONE_BAD_ARTIFACT);
  EXPECT_EQ(none, nullptr);
  freestone_artifact_release(nullptr);
  freestone_instance_release(nullptr);
  EXPECT_EQ(freestone_instance_run(nullptr), FREESTONE_INVALID_ARGUMENT);
  EXPECT_EQ(freestone_artifact_input_count(nullptr), 0u);

  Artifact artifact = loadReverse();
  freestone_value_info info = {};
  EXPECT_EQ(freestone_artifact_input(artifact.get(), 0, &info), FREESTONE_INVALID_ARGUMENT); // struct_size is not set
  info.struct_size = sizeof(info);
  EXPECT_EQ(freestone_artifact_input(artifact.get(), 1, &info), FREESTONE_INVALID_ARGUMENT);
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(artifact, -1); });
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(artifact, 1 << 30); });
  Instance instance(artifact, 1);
  std::vector<float> x = ramp(3);
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setInput(1, viewOf(x)); });
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.setOutput(1, viewOf(x)); });
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.output(0); });
}

TEST(Error, StructsOfAnOlderCaller) {
  Artifact artifact = loadReverse();
  struct {
    size_t size = 2 * sizeof(size_t);
    const char *name = nullptr;
    uint64_t guard = 42;
  } older;
  check(freestone_artifact_input(artifact.get(), 0, reinterpret_cast<freestone_value_info *>(&older)));
  EXPECT_STREQ(older.name, "x");
  EXPECT_EQ(older.guard, 42u);
}
