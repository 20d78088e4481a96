// Targets by name, and the host as restricted by FREESTONE_HOST. Expectations of the host come from this processor.
#include "compiler/device/DeviceDescription.h"
#include "runtime/machine/Processor.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace freestone;

namespace {

DeviceDescription describe(llvm::StringRef target) { return llvm::cantFail(DeviceDescription::get(target)); }

std::string refuse(llvm::StringRef target) { return llvm::toString(DeviceDescription::get(target).takeError()); }

bool needs(const DeviceDescription &device, llvm::StringRef instructions) {
  return llvm::is_contained(device.instructions, instructions) ||
         llvm::is_contained(device.tileInstructions, instructions);
}

/// Restores FREESTONE_HOST after the test.
class SeenAs : public testing::Test {
protected:
  SeenAs() {
    if (const char *value = std::getenv(runtime::hostVariable))
      before = value;
  }
  ~SeenAs() override { set(before); }
  static void set(const std::optional<std::string> &value) {
    if (value)
      setenv(runtime::hostVariable, value->c_str(), 1);
    else
      unsetenv(runtime::hostVariable);
  }
  /// Whether FREESTONE_HOST can make this machine appear so.
  static bool canBe(const std::string &seen) {
    set(seen);
    return runtime::Processor::here().ok();
  }

private:
  std::optional<std::string> before;
};

} // namespace

TEST(Device, LevelsAreTheSameOnEveryMachine) {
  DeviceDescription v3 = describe("x86-64-v3"), v4 = describe("x86-64-v4");
  EXPECT_EQ(v3.vectorBytes, 32u);
  EXPECT_EQ(v3.vectorRegisters, 16u);
  EXPECT_EQ(v3.getLanes(32), 8u);
  EXPECT_EQ(v3.getPanelWidth(32), 16u);
  EXPECT_EQ(v3.getPanelRows(), 6u);
  EXPECT_EQ(v4.vectorBytes, 64u);
  EXPECT_EQ(v4.getPanelWidth(64), 16u);
  EXPECT_EQ(v4.getPanelRows(), 14u);
  EXPECT_TRUE(needs(v3, "avx2") && needs(v3, "fma") && !needs(v3, "avx512f"));
  EXPECT_TRUE(needs(v4, "avx2") && needs(v4, "avx512vl") && !needs(v4, "avx512bf16"));
  EXPECT_EQ(v3.getL1Bytes(), 32 << 10);
}

TEST(Device, ChangesAddAndTakeWhatTheyName) {
  DeviceDescription tiles = describe("x86-64-v4,+amx-bf16");
  EXPECT_EQ(tiles.pairUnit, WordUnit::tiles);
  EXPECT_TRUE(tiles.roundsToBF16 && needs(tiles, "avx512bf16"));
  EXPECT_EQ(tiles.tileInstructions, (std::vector<std::string>{"amx-bf16", "amx-tile"}));
  EXPECT_EQ(describe("x86-64-v4,+avx512bf16").pairUnit, WordUnit::vectors);
  EXPECT_EQ(describe("x86-64-v4,+amx-bf16,-avx512bf16").pairUnit, WordUnit::tiles);
  DeviceDescription rounding = describe("x86-64-v4,+amx-bf16,-amx-bf16");
  EXPECT_EQ(rounding.pairUnit, WordUnit::none);
  EXPECT_TRUE(rounding.roundsToBF16 && rounding.tileInstructions.empty());
  EXPECT_EQ(describe("x86-64-v3,-amx-bf16").vectorBytes, 32u);
  EXPECT_EQ(tiles.quadUnit, WordUnit::none);
  DeviceDescription quads = describe("x86-64-v4,+avx512vnni,+amx-int8");
  EXPECT_EQ(quads.quadUnit, WordUnit::tiles);
  EXPECT_EQ(quads.pairUnit, WordUnit::none);
  EXPECT_EQ(quads.tileInstructions, (std::vector<std::string>{"amx-int8", "amx-tile"}));
  EXPECT_EQ(describe("x86-64-v4,+avx512vnni,+amx-int8,-amx-int8").quadUnit, WordUnit::vectors);
  EXPECT_EQ(describe("x86-64-v4,+avx512vnni,-avx512vnni").quadUnit, WordUnit::none);
  EXPECT_EQ(describe("x86-64-v4").quadUnit, WordUnit::none);
}

TEST(Device, TargetsAreRefusedByName) {
  std::string unknown = refuse("x86-64-v5");
  EXPECT_NE(unknown.find("unknown target 'x86-64-v5'; it is host, x86-64-v3 or x86-64-v4"), std::string::npos)
      << unknown;
  unknown = refuse("x86-64-v4,+avx512fp16");
  EXPECT_NE(unknown.find("'+avx512fp16'"), std::string::npos) << unknown;
  std::string narrow = refuse("x86-64-v3,+amx-bf16");
  EXPECT_NE(narrow.find("'+amx-bf16' is for targets with all that x86-64-v4 has"), std::string::npos) << narrow;
  for (const char *text : {"", ",", "x86-64-v4,,", "x86-64-v4,amx-bf16", "x86-64-v4,+"})
    EXPECT_NE(refuse(text), "") << text;
}

TEST_F(SeenAs, ALevelTheHostIsThatLevelWithItsOwnCaches) {
  set(std::nullopt);
  DeviceDescription whole = describe("host");
  for (const char *level :
       {"x86-64-v3", "x86-64-v4", "x86-64-v4,+amx-bf16", "x86-64-v4,+avx512bf16", "x86-64-v4,+avx512vnni"}) {
    if (!canBe(level))
      continue;
    DeviceDescription seen = describe("host"), expected = describe(level);
    expected.units = whole.units;
    expected.memoryLevels = whole.memoryLevels;
    EXPECT_EQ(seen, expected) << level;
  }
  ASSERT_TRUE(canBe("x86-64-v3")) << "nothing runs here";
  EXPECT_NE(refuse("host,+amx-bf16"), "");
  EXPECT_EQ(describe("x86-64-v4").vectorBytes, 64u) << "another target is what it is";
}

TEST_F(SeenAs, TheHostWithoutAFeatureTheRestStays) {
  set(std::nullopt);
  DeviceDescription without = describe("host,-amx-bf16");
  set("host,-amx-bf16");
  EXPECT_EQ(describe("host"), without);
  EXPECT_EQ(describe("host").tileInstructions, std::vector<std::string>());
  set("");
  EXPECT_EQ(describe("host,-amx-bf16"), without) << "an empty value is none";
}

TEST_F(SeenAs, WhatItIsNotItIsRefused) {
  set("x86-64-v9");
  std::string error = refuse("host");
  EXPECT_NE(error.find("FREESTONE_HOST=x86-64-v9: unknown target 'x86-64-v9'"), std::string::npos) << error;
  EXPECT_EQ(describe("x86-64-v3").vectorBytes, 32u) << "only what is for this machine depends on it";
}
