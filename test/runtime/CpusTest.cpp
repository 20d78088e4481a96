#include "runtime/platform/Cpus.h"
#include "runtime/workers/WorkerCount.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace freestone::runtime;

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
  EXPECT_GT(left, 0); // occasionally the scheduler moves it back at once
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  platform::leaveCpu(-1);
  platform::leaveCpu(1 << 20);
  EXPECT_EQ(platform::affinityCpus(), CPU_COUNT(&before));
}

namespace {

cpu_set_t maskOfThread() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof(mask), &mask);
  return mask;
}

} // namespace

TEST(Cpus, AThreadSleepsAwayFromCpus) {
  if (platform::affinityCpus() < 2)
    GTEST_SKIP() << "there is only one CPU to run on";
  const cpu_set_t whole = maskOfThread();
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &whole))
      cpus.push_back(cpu);
  const int first = cpus[0], second = cpus[1];
  platform::SleepMask mask;
  EXPECT_FALSE(mask.allows(first)); // not asleep yet
  EXPECT_FALSE(mask.avoid(cpus)) << "no CPU is left";
  EXPECT_FALSE(mask.avoid(std::vector<int>{-1, CPU_SETSIZE}));
  ASSERT_TRUE(mask.avoid(std::vector<int>{-1, first}));
  EXPECT_NE(platform::currentCpu(), first);
  EXPECT_FALSE(mask.allows(first));
  EXPECT_TRUE(mask.allows(second));

  std::thread([&] { mask.avoidInstead(std::vector<int>{second}); }).join();
  EXPECT_NE(platform::currentCpu(), second);
  EXPECT_TRUE(mask.allows(first));
  mask.restore();
  cpu_set_t now = maskOfThread();
  EXPECT_TRUE(CPU_EQUAL(&now, &whole));
  mask.avoidInstead(std::vector<int>{second}); // too late
  now = maskOfThread();
  EXPECT_TRUE(CPU_EQUAL(&now, &whole));

  ASSERT_TRUE(mask.avoid(std::vector<int>{first}));
  cpu_set_t others;
  CPU_ZERO(&others);
  CPU_SET(first, &others);
  sched_setaffinity(0, sizeof(others), &others);
  mask.restore();
  now = maskOfThread();
  EXPECT_TRUE(CPU_EQUAL(&now, &others)) << "what someone else has set stays";
  sched_setaffinity(0, sizeof(whole), &whole);
}
