// Descriptions as text and back, including imaginary devices; and texts that describe no device.
#include "compiler/device/DeviceDescription.h"

#include <gtest/gtest.h>

using namespace freestone;

namespace {

/// A device that does not exist: long vectors, four memory levels, rates.
DeviceDescription imagine() {
  DeviceDescription device;
  device.triple = "imagined-unknown-linux-gnu";
  device.cpu = "dream";
  device.features = "+all";
  device.instructions = {"everything"};
  device.tileInstructions = {"pairs"};
  device.units = 3;
  device.memoryLevels = {{8 << 10, 32}, {1 << 20, 128, 3}, {64 << 20, 128, 3}, {int64_t(8) << 30, 256, 3}};
  device.vectorBytes = 256;
  device.vectorRegisters = 64;
  device.roundsToBF16 = true;
  device.permutesBytes = true;
  device.pairUnit = WordUnit::tiles;
  device.quadUnit = WordUnit::vectors;
  device.rates.levels = {2e12, 1.5e11};
  device.rates.memoryRead = 2.5e10;
  device.rates.memoryReadByAll = 7.5e10;
  device.rates.pairsOnTiles = 1e13;
  return device;
}

std::string refuse(const std::string &text) { return llvm::toString(DeviceDescription::fromJson(text).takeError()); }

/// The text of the imaginary device with `old` replaced by `now`.
std::string replace(const std::string &old, const std::string &now) {
  std::string text = imagine().toJson();
  size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << text;
  return text.replace(at, old.size(), now);
}

} // namespace

TEST(DeviceJson, ComesBackAsItWas) {
  for (const DeviceDescription &device :
       {imagine(), DeviceDescription(), llvm::cantFail(DeviceDescription::get("host")),
        llvm::cantFail(DeviceDescription::get("x86-64-v4,+amx-bf16"))})
    EXPECT_EQ(llvm::cantFail(DeviceDescription::fromJson(device.toJson())), device) << device.toJson();
}

TEST(DeviceJson, AnImaginedDeviceAnswersAsAnyOther) {
  DeviceDescription device = llvm::cantFail(DeviceDescription::fromJson(imagine().toJson()));
  EXPECT_EQ(device.getLanes(32), 64u);
  EXPECT_EQ(device.getPanelWidth(16), 256u);
  EXPECT_EQ(device.getPanelRows(), 30u);
  EXPECT_EQ(device.getL1Bytes(), 8 << 10);
  EXPECT_EQ(device.getL3Bytes(), 64 << 20);
  device.memoryLevels.resize(1, {0});
  EXPECT_EQ(device.getL3Bytes(), 8 << 10) << "the last one that there is";
}

TEST(DeviceJson, WhatIsLeftOutIsTheDefault) {
  DeviceDescription device = llvm::cantFail(DeviceDescription::fromJson(
      R"({"triple": "t", "cpu": "c", "features": "", "memory_levels": [{"bytes": 4096}],
          "vector_bytes": 16, "vector_registers": 32})"));
  EXPECT_EQ(device.units, 1u);
  EXPECT_EQ(device.memoryLevels[0], MemoryLevel{4096});
  EXPECT_EQ(device.pairUnit, WordUnit::none);
  EXPECT_EQ(device.quadUnit, WordUnit::none);
}

TEST(DeviceJson, WhatIsNoDeviceIsRefusedByItsPlace) {
  for (auto [text, part] :
       {std::pair<std::string, const char *>{"{", "Expected"},
        {"[]", "expected object"},
        {"{}", "triple"},
        {replace("\"units\":3", "\"units\":0"), "units"},
        {replace("\"units\":3", "\"units\":\"x\""), "units"},
        {replace("\"vector_bytes\":256", "\"vector_bytes\":48"), "vector_bytes"},
        {replace("\"vector_registers\":64", "\"vector_registers\":4"), "vector_registers"},
        {replace("\"pair_unit\":\"tiles\"", "\"pair_unit\":\"cubes\""), "pair_unit"},
        {replace("\"bytes\":8192", "\"bytes\":-1"), "memory_levels[0]"},
        {replace("\"shared_by\":1", "\"shared_by\":0"), "memory_levels[0]"},
        {replace("[2000000000000,", "[-1,"), "rates.levels[0]"},
        {replace("[2000000000000,", "[1e+11,"), "rates.levels[0]"},
        {replace("[2000000000000,", "[2000000000000,2e+12,2e+12,2e+12,"), "rates.levels"},
        {replace("\"memory_read\":25000000000", "\"memory_read\":1e+12"), "rates.levels[1]"},
        {replace("\"memory_read\":25000000000", "\"memory_read\":0"), "rates.memory_read"},
        {replace("\"memory_read_by_all\":7", "\"memory_read_by_all\":1"), "rates.memory_read_by_all"},
        {replace("\"pairs_on_tiles\":1", "\"pairs_on_tiles\":1e999"), "rates.pairs_on_tiles"}}) {
    std::string error = refuse(text);
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
  }
}
