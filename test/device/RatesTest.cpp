// Rates of devices: those that are given, and the estimates of all others.
#include "compiler/device/DeviceDescription.h"

#include <gtest/gtest.h>

using namespace freestone;

namespace {

DeviceDescription named(llvm::StringRef target) { return llvm::cantFail(DeviceDescription::get(target)); }

} // namespace

TEST(Rates, WhatIsGivenIsAnswered) {
  DeviceDescription device;
  device.rates = {{4e11, 2e11, 5e10}, 2e10, 1e10, 8e9, 6e10, 5e10, {}, {}, {}, {}, 3e9, 0.25, 4e-9, 3e-7};
  EXPECT_EQ(device.getBandwidth(0), 4e11);
  EXPECT_EQ(device.getBandwidth(2), 5e10);
  EXPECT_EQ(device.getBandwidth(3), 2e10) << "what is in no level is in main memory";
  EXPECT_EQ(device.getMemoryBandwidth(), 2e10);
  EXPECT_EQ(device.getMemoryWriteBandwidth(), 1e10);
  EXPECT_EQ(device.getMemoryCopyBandwidth(), 8e9);
  EXPECT_EQ(device.getSharedMemoryBandwidth(), 6e10);
  EXPECT_EQ(device.getMultiplyAdds(32), 5e10);
  EXPECT_EQ(device.getMultiplyAdds(64), 2.5e10);
  EXPECT_EQ(device.getMultiplyAdds(16), 5e10) << "narrower floats are computed in 32 bits";
  EXPECT_EQ(device.getCycles(), 3e9);
  EXPECT_EQ(device.getExposedReads(), 0.25);
  EXPECT_EQ(device.getPieceSeconds(), 4e-9);
  EXPECT_EQ(device.getHandOffSeconds(), 3e-7);
}

TEST(Rates, DotProductsAreThoseOfTheUnitInUse) {
  DeviceDescription device = named("x86-64-v4,+amx-bf16,+avx512vnni");
  device.rates.pairsOnVectors = 1e11;
  device.rates.pairsOnTiles = 8e11;
  device.rates.quadsOnVectors = 3e11;
  EXPECT_EQ(device.getPairMultiplyAdds(), 8e11);
  EXPECT_EQ(device.getQuadMultiplyAdds(), 3e11);
  device.pairUnit = WordUnit::vectors;
  EXPECT_EQ(device.getPairMultiplyAdds(), 1e11);
  device.pairUnit = device.quadUnit = WordUnit::none;
  EXPECT_EQ(device.getPairMultiplyAdds(), 0);
  EXPECT_EQ(device.getQuadMultiplyAdds(), 0);
}

TEST(Rates, EstimatesFollowTheDevice) {
  DeviceDescription narrow = named("x86-64-v3"), wide = named("x86-64-v4,+amx-bf16,+amx-int8,+avx512vnni");
  EXPECT_EQ(narrow.rates, Rates());
  EXPECT_EQ(wide.getMultiplyAdds(32), 2 * narrow.getMultiplyAdds(32));
  EXPECT_EQ(wide.getBandwidth(0), 2 * narrow.getBandwidth(0));
  EXPECT_EQ(wide.getMemoryBandwidth(), narrow.getMemoryBandwidth());
  EXPECT_EQ(narrow.getPieceSeconds(), 10 / narrow.getCycles());
  EXPECT_EQ(narrow.getPairMultiplyAdds(), 0);
  EXPECT_GT(wide.getPairMultiplyAdds(), wide.getMultiplyAdds(32));
  EXPECT_GT(wide.getQuadMultiplyAdds(), wide.getPairMultiplyAdds());
  DeviceDescription two = narrow, many = narrow;
  two.units = 2;
  many.units = 64;
  EXPECT_EQ(two.getSharedMemoryBandwidth(), 2 * narrow.getMemoryBandwidth());
  EXPECT_LT(many.getSharedMemoryBandwidth(), 64 * narrow.getMemoryBandwidth());
}

TEST(Rates, ANearerLevelIsNeverSlower) {
  DeviceDescription fastMemory, slowL1, oneLevel, fourLevels;
  fastMemory.rates.memoryRead = 1e13;
  slowL1.rates.levels = {1e9};
  oneLevel.memoryLevels.resize(1, {0});
  fourLevels.memoryLevels.push_back({1 << 30, 256});
  for (const DeviceDescription &device : {DeviceDescription(), fastMemory, slowL1, oneLevel, fourLevels, named("host"),
                                          named("x86-64-v3"), named("x86-64-v4")}) {
    for (size_t level = 0; level < device.memoryLevels.size(); ++level)
      EXPECT_GE(device.getBandwidth(level), device.getBandwidth(level + 1)) << level << " of " << device.toJson();
    EXPECT_GE(device.getMemoryBandwidth(), device.getMemoryWriteBandwidth());
    EXPECT_GE(device.getMemoryBandwidth(), device.getMemoryCopyBandwidth());
    EXPECT_GE(device.getSharedMemoryBandwidth(), device.getMemoryBandwidth());
  }
  EXPECT_EQ(fastMemory.getMemoryBandwidth(), 1e13);
  EXPECT_EQ(slowL1.getBandwidth(0), 1e9);
}

TEST(Rates, ThoseOfThisMachineAreOfItAlone) {
  DeviceDescription host = llvm::cantFail(DeviceDescription::get("host", R"({"memory_read": 5})"));
  EXPECT_EQ(host.getMemoryBandwidth(), 5);
  EXPECT_EQ(llvm::cantFail(DeviceDescription::get("host,-amx-bf16", R"({"memory_read": 5})")).rates, host.rates);
  EXPECT_EQ(llvm::cantFail(DeviceDescription::get("x86-64-v3", R"({"memory_read": 5})")).rates, Rates());
  EXPECT_EQ(llvm::cantFail(DeviceDescription::get(host.toJson())), host) << "a description is a target, too";
  std::string many = R"({"levels": [9, 9, 9, 9, 9, 9, 9, 9, 9]})";
  for (const std::string &wrong : {std::string("x"), std::string(R"({"memory_read": -5})"), std::string(R"({"exposed_reads": 2})"), many})
    EXPECT_NE(llvm::toString(DeviceDescription::get("host", wrong).takeError()), "") << wrong;
}

TEST(Rates, TextComesBackAsItWas) {
  Rates rates = {{4e11, 1.23456789012345e11}, 2e10, 1e10, 8e9, 6e10, 5e10, 1e11, 2e11, 3e11, 4e11, 3e9, 0.25, 4e-9, 3e-7};
  EXPECT_EQ(llvm::cantFail(Rates::fromJson(rates.toJson())), rates);
  EXPECT_EQ(llvm::cantFail(Rates::fromJson("{}")), Rates());
  EXPECT_NE(llvm::toString(Rates::fromJson(R"({"levels": [1, 2]})").takeError()).find("levels[0]"), std::string::npos);
}
