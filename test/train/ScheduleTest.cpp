#include "train/Schedule.h"
#include <gtest/gtest.h>
#include <vector>

using namespace freestone::train;

static void expectRates(const Schedule &schedule, const std::vector<double> &expected) {
  for (size_t step = 0; step < expected.size(); ++step)
    EXPECT_NEAR(schedule.learningRate(int64_t(step)), expected[step], 1e-15) << "step " << step;
}

// All numbers are those of PyTorch 2's schedulers.

TEST(Schedule, constant) { expectRates({.rate = 0.1}, {0.1, 0.1, 0.1}); }

TEST(Schedule, linear) {
  expectRates({.kind = ScheduleKind::Linear, .rate = 0.1, .steps = 10, .lastFraction = 0.25},
              {0.1, 0.0925, 0.085, 0.0775, 0.07, 0.0625, 0.055, 0.0475, 0.04, 0.0325, 0.025, 0.025, 0.025});
}

TEST(Schedule, cosine) {
  expectRates({.kind = ScheduleKind::Cosine, .rate = 0.1, .steps = 10, .lowest = 0.01},
              {0.1, 0.097797543233281922, 0.091405764746872634, 0.08145033635316129, 0.068905764746872641, 0.055,
               0.041094235253127373, 0.028549663646838717, 0.01859423525312737, 0.012202456766718092, 0.01, 0.01});
}

TEST(Schedule, step) {
  expectRates({.kind = ScheduleKind::Step, .rate = 0.1, .every = 3, .factor = 0.5},
              {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125});
}

TEST(Schedule, oneCycle) {
  Schedule schedule{.kind = ScheduleKind::OneCycle, .rate = 0.1, .steps = 12};
  expectRates(schedule, {0.004, 0.034978965421958302, 0.087928515912212873, 0.099441543545091188, 0.093301296984141177,
                         0.081174565394976306, 0.064737899769510332, 0.046263710266697504, 0.028306099820869922,
                         0.01334775301888306, 0.0034566987425395223, 4e-7, 4e-7});
  std::vector<double> momenta = {0.95,
                                 0.91773024435212669,
                                 0.86257446259144488,
                                 0.85055845868874358,
                                 0.85669872981077799,
                                 0.86882550990706331,
                                 0.88526224127945474,
                                 0.90373650467932121,
                                 0.9216941869558779,
                                 0.93665259359149122,
                                 0.94654368743221018};
  for (size_t step = 0; step < momenta.size(); ++step)
    EXPECT_NEAR(*schedule.momentum(int64_t(step)), momenta[step], 1e-15);
  schedule.cycleMomentum = false;
  EXPECT_FALSE(schedule.momentum(0));
  EXPECT_FALSE(Schedule().momentum(0));
}

TEST(Schedule, warmUpComesBeforeEach) {
  std::vector<double> warm = {0.001, 0.02575, 0.0505, 0.07525};
  auto expectWarm = [&](Schedule schedule, std::vector<double> rest) {
    schedule.rate = 0.1;
    schedule.steps = 12;
    schedule.warmup = 4;
    std::vector<double> expected = warm;
    expected.insert(expected.end(), rest.begin(), rest.end());
    expectRates(schedule, expected);
  };
  expectWarm({}, {0.1, 0.1, 0.1});
  expectWarm({.kind = ScheduleKind::Linear}, {0.1, 0.0875, 0.075, 0.0625, 0.05, 0.0375, 0.025, 0.0125, 0, 0});
  expectWarm({.kind = ScheduleKind::Cosine}, {0.1, 0.096193976625564337, 0.085355339059327379, 0.069134171618254497,
                                              0.05, 0.030865828381745515, 0.014644660940672627, 0.0038060233744356634});
  expectWarm({.kind = ScheduleKind::Step, .every = 3, .factor = 0.5}, {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025});
  Schedule cycle{.kind = ScheduleKind::OneCycle, .rate = 0.1, .steps = 16, .warmup = 4};
  EXPECT_NEAR(cycle.learningRate(0), 0.00004, 1e-15);
  EXPECT_NEAR(cycle.learningRate(4), 0.004, 1e-15);
  EXPECT_NEAR(cycle.learningRate(6), 0.087928515912212873, 1e-15);
  EXPECT_EQ(cycle.momentum(2), 0.95);
}

TEST(Schedule, everyLengthIsFinite) {
  for (ScheduleKind kind :
       {ScheduleKind::Constant, ScheduleKind::Linear, ScheduleKind::Cosine, ScheduleKind::Step, ScheduleKind::OneCycle})
    for (int64_t steps : {0, 1, 2, 3, 100})
      for (int64_t warmup : {0, 1, 50, 200})
        for (int64_t step = 0; step < 210; ++step) {
          Schedule schedule{.kind = kind, .rate = 0.1, .steps = steps, .warmup = warmup};
          EXPECT_GE(schedule.learningRate(step), 0);
          EXPECT_LE(schedule.learningRate(step), 0.1 + 1e-12);
        }
}

TEST(Schedule, names) {
  EXPECT_EQ(scheduleFromName("one-cycle"), ScheduleKind::OneCycle);
  EXPECT_EQ(scheduleFromName("polynomial"), std::nullopt);
}
