// The calibration of the machine at hand: what it measures, and that this is plausible whatever else the machine does.
// How fast this machine is, is not tested.
#include "compiler/device/Calibration.h"

#include "compiler/device/Stretches.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace freestone;

namespace {

DeviceDescription host() { return llvm::cantFail(DeviceDescription::get("host")); }

/// Expects what holds for every machine.
void expectPlausible(const Rates &rates, const DeviceDescription &device) {
  EXPECT_EQ(llvm::cantFail(Rates::fromJson(rates.toJson())), rates) << "what is kept is valid";
  ASSERT_EQ(rates.levels.size(), device.memoryLevels.size());
  for (std::optional<double> bytes : {rates.memoryRead, rates.memoryWrite, rates.memoryCopy}) {
    ASSERT_TRUE(bytes);
    EXPECT_GT(*bytes, 1e7);
    EXPECT_LT(*bytes, 1e13);
  }
  ASSERT_TRUE(rates.multiplyAdds);
  EXPECT_GT(*rates.multiplyAdds, 1e8);
  EXPECT_LT(*rates.multiplyAdds, 1e13);
  ASSERT_TRUE(rates.cycles);
  EXPECT_GT(*rates.cycles, 1e7);
  EXPECT_LT(*rates.cycles, 1e11);
  ASSERT_TRUE(rates.exposedReads);
  EXPECT_EQ(rates.pieceSeconds.has_value(), device.memoryLevels.size() > 2);
  EXPECT_GT(rates.handOffSeconds.value_or(1e-6), 1e-9);
}

} // namespace

TEST(Calibration, MeasuresThisMachine) {
  DeviceDescription device = host();
  Rates rates = measureRates(device);
  expectPlausible(rates, device);
  for (auto [unit, instructions] :
       {std::pair(rates.pairsOnVectors, "avx512bf16"), std::pair(rates.quadsOnVectors, "avx512vnni")})
    EXPECT_EQ(unit.has_value(), llvm::is_contained(device.instructions, instructions)) << instructions;
  for (auto [unit, instructions] :
       {std::pair(rates.pairsOnTiles, "amx-bf16"), std::pair(rates.quadsOnTiles, "amx-int8")})
    EXPECT_EQ(unit.has_value(), llvm::is_contained(device.tileInstructions, instructions)) << instructions;
}

TEST(Calibration, MachinesOfOtherShapesAreMeasuredToo) {
  DeviceDescription device = host();
  device.memoryLevels = {{1 << 10}};
  EXPECT_EQ(measureRates(device).levels.size(), 1u);
  device.memoryLevels = {{32 << 10}, {16 << 10}, {int64_t(1) << 40}, {4 << 20}};
  expectPlausible(measureRates(device), device);
}

TEST(Calibration, WhatTheSystemRefusesStaysAbsent) {
  DeviceDescription device = host();
  // In a child: limits can't be raised again.
  pid_t child = fork();
  if (child == 0) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit memory = {pages * 4096 + (4 << 20), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &memory);
    // What earlier tests have freed.
    void *volatile kept;
    do
      kept = std::malloc(1 << 20);
    while (kept);
    Rates rates = measureRates(device);
    _exit(rates.multiplyAdds && !rates.memoryRead && !rates.memoryReadByAll ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Stretches, TheFastestQuarterCounts) {
  Stretches stretches;
  EXPECT_EQ(stretches.getUpperQuartile(), std::nullopt);
  EXPECT_EQ(stretches.getFastest(), std::nullopt);
  for (double rate : {3.0, 100.0, 1.0, 8.0, 8.1, 7.9, 2.0, 8.0})
    stretches.add(rate);
  EXPECT_EQ(stretches.getUpperQuartile(), 8.0);
  EXPECT_EQ(stretches.getFastest(), 100.0);
}
