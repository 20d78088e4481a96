#include "runtime/platform/Cpus.h"
#include "runtime/CpuFeatures.h"
#include "runtime/WorkerCount.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>

using namespace freestone::runtime;

TEST(Cpus, FeaturesAgreeWithTheCompilersBuiltins) {
  __builtin_cpu_init();
  EXPECT_EQ(hasCpuFeature("avx2"), std::optional<bool>(__builtin_cpu_supports("avx2") != 0));
  EXPECT_EQ(hasCpuFeature("fma"), std::optional<bool>(__builtin_cpu_supports("fma") != 0));
  EXPECT_EQ(hasCpuFeature("avx512f"), std::optional<bool>(__builtin_cpu_supports("avx512f") != 0));
  EXPECT_EQ(hasCpuFeature("avx512bf16"), std::optional<bool>(__builtin_cpu_supports("avx512bf16") != 0));
  EXPECT_EQ(hasCpuFeature("sse2"), std::optional<bool>(true));
  EXPECT_EQ(hasCpuFeature("no-such-feature"), std::nullopt);
}

TEST(Cpus, EnvironmentLimitsTheNumberOfWorkers) {
  EXPECT_GE(platform::affinityCpus(), 1);
  EXPECT_EQ(chooseWorkerCount(7).workers, 7);
  setenv("FREESTONE_NUM_THREADS", "1", 1);
  WorkerCount count = chooseWorkerCount(0);
  EXPECT_EQ(count.workers, 1);
  EXPECT_NE(count.reason.find("FREESTONE_NUM_THREADS 1"), std::string::npos) << count.reason;
  for (const char *nonsense : {"", "x", "-3", "0", "2x"}) {
    setenv("FREESTONE_NUM_THREADS", nonsense, 1);
    EXPECT_EQ(chooseWorkerCount(0).reason.find("FREESTONE"), std::string::npos) << nonsense;
  }
  unsetenv("FREESTONE_NUM_THREADS");
  setenv("OMP_NUM_THREADS", "1,4", 1);
  EXPECT_EQ(chooseWorkerCount(0).workers, 1);
  unsetenv("OMP_NUM_THREADS");
}

TEST(Cpus, AThreadLeavesItsCpuAndKeepsItsMask) {
  if (platform::affinityCpus() < 2)
    GTEST_SKIP() << "there is only one CPU to run on";
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof(before), &before);
  int left = 0;
  for (int round = 0; round < 20; ++round) {
    int cpu = platform::currentCpu();
    platform::leaveCpu(cpu);
    left += platform::currentCpu() != cpu;
  }
  EXPECT_GT(left, 0); // now and then the scheduler takes it back at once
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  platform::leaveCpu(-1);
  platform::leaveCpu(1 << 20);
  EXPECT_EQ(platform::affinityCpus(), CPU_COUNT(&before));
}
