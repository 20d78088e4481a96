#include "test/runtime/Models.h"

using namespace freestone;
using namespace freestone::test;

TEST(Weights, AreSuppliedToAStrippedArtifact) {
  Artifact artifact = loadBytes(packReverse(/*withWeights=*/false));
  ASSERT_EQ(freestone_artifact_missing_weight_count(artifact.get()), 1u);
  freestone_value_info info = {};
  info.struct_size = sizeof(info);
  check(freestone_artifact_missing_weight(artifact.get(), 0, &info));
  EXPECT_STREQ(info.name, "plain");
  EXPECT_STREQ(info.shape[0], "4");
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(artifact, 1); });
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { check(freestone_artifact_finish_weights(artifact.get(), 1)); }),
            "weight 'plain' was not supplied");

  std::vector<float> plain = {1, 2, 3, 4}, wrong(5);
  EXPECT_EQ(freestone_artifact_supply_weight(artifact.get(), "other", viewOf(plain).get()), FREESTONE_INVALID_ARGUMENT);
  check(freestone_artifact_supply_weight(artifact.get(), "plain", viewOf(wrong).get()));
  EXPECT_EQ(errorOf(FREESTONE_MISMATCH, [&] { check(freestone_artifact_finish_weights(artifact.get(), 1)); }),
            "dimension 0 of input 'plain' must be 4, but is 5");
  check(freestone_artifact_supply_weight(artifact.get(), "plain", viewOf(plain).get()));
  check(freestone_artifact_finish_weights(artifact.get(), 2));
  EXPECT_EQ(freestone_artifact_missing_weight_count(artifact.get()), 0u);

  const void *data = nullptr;
  size_t bytes = 0;
  check(freestone_artifact_stored_weight(artifact.get(), 0, &data, &bytes));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  EXPECT_EQ(static_cast<const float *>(data)[3], 40);

  std::vector<float> x = ramp(12);
  Instance instance(artifact, 2);
  instance.setInput(0, viewOf(x));
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
}

TEST(Weights, ThatAreStoredAsTheyAreNeedNoInit) {
  runtime::Descriptor descriptor = describeReverse();
  descriptor.entries[1].outputs[0].name = "another";
  Artifact artifact = loadBytes(packProgram("Reverse", descriptor));
  ASSERT_EQ(freestone_artifact_missing_weight_count(artifact.get()), 1u);
  std::vector<float> packed = {10, 20, 30, 40}, wrong(3);
  check(freestone_artifact_supply_weight(artifact.get(), "packed", viewOf(wrong).get()));
  EXPECT_EQ(freestone_artifact_finish_weights(artifact.get(), 1), FREESTONE_MISMATCH);
  check(freestone_artifact_supply_weight(artifact.get(), "packed", viewOf(packed).get()));
  check(freestone_artifact_finish_weights(artifact.get(), 1));
  packed.assign(4, 0); // copied by now

  std::vector<float> x = ramp(12);
  Instance instance(artifact, 2);
  instance.setInput(0, viewOf(x));
  instance.run();
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
}

TEST(Weights, AreCheckedOnDemand) {
  Artifact artifact = loadReverse();
  check(freestone_artifact_check_weights(artifact.get()));
  EXPECT_EQ(freestone_artifact_missing_weight_count(artifact.get()), 0u);
}
