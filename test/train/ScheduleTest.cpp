#include "train/run/Schedule.h"
#include "test/train/Files.h"
#include "train/Error.h"
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

TEST(Schedule, numbersByPyTorchsNames) {
  auto make = [](const char *name, std::map<std::string, double> numbers, int64_t steps, int64_t warmup = 0) {
    Schedule schedule = makeSchedule(name, warmup, numbers);
    schedule.rate = 0.1;
    schedule.steps = steps;
    return schedule;
  };
  expectRates(make("linear", {{"end_factor", 0.4}}, 6), {0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.04});
  expectRates(make("cosine", {{"eta_min", 0.02}}, 6),
              {0.1, 0.09464101615137756, 0.08, 0.06, 0.04, 0.02535898384862245, 0.02});
  expectRates(make("step", {{"step_size", 2}, {"gamma", 0.3}}, 7), {0.1, 0.1, 0.03, 0.03, 0.009, 0.009, 0.0027});
  expectRates(make("step", {{"step_size", 3}, {"gamma", 0.5}, {"start_factor", 0.25}}, 9, 4),
              {0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1, 0.05, 0.05});
  std::map<std::string, double> cycle = {
      {"pct_start", 0.5}, {"div_factor", 10}, {"final_div_factor", 100}, {"base_momentum", 0.8}, {"max_momentum", 0.9}};
  Schedule schedule = make("one-cycle", cycle, 8);
  std::vector<double> rates = {0.01, 0.0325, 0.0775, 0.1, 0.08536998372026805, 0.05005, 0.014730016279731955, 0.0001};
  expectRates(schedule, rates);
  std::vector<double> momenta = {0.9, 0.875, 0.825, 0.8, 0.8146446609406727, 0.85, 0.8853553390593274, 0.9};
  for (size_t step = 0; step < momenta.size(); ++step)
    EXPECT_NEAR(*schedule.momentum(int64_t(step)), momenta[step], 1e-15);
  cycle["cycle_momentum"] = 0;
  schedule = make("one-cycle", cycle, 8);
  expectRates(schedule, rates);
  EXPECT_FALSE(schedule.momentum(0));
}

TEST(Schedule, everyNumberHasAMemberOfItsOwn) {
  for (const ScheduleNumber &number : scheduleNumbers()) {
    SCOPED_TRACE(number.name);
    std::string kind = "constant";
    for (const char *name : {"linear", "cosine", "step", "one-cycle"})
      if (scheduleFromName(name) == number.takenBy)
        kind = name;
    double other = number.name == "cycle_momentum" ? 0 : 1;
    std::map<std::string, double> numbers = {{std::string(number.name), other}};
    if (kind == "step")
      numbers.try_emplace("step_size", 5);
    Schedule schedule = makeSchedule(kind, 3, numbers);
    for (const ScheduleNumber &any : scheduleNumbers()) {
      auto given = numbers.find(std::string(any.name));
      double expected = given == numbers.end() ? any.defaultValue() : given->second;
      EXPECT_EQ(std::visit([&](auto member) { return double(schedule.*member); }, any.member), expected) << any.name;
    }
  }
}

TEST(Schedule, whatIsNotTakenIsRefused) {
  auto refuse = [](const char *name, int64_t warmup, std::map<std::string, double> numbers,
                   std::initializer_list<const char *> parts) {
    freestone::test::expectError<Error>([&] { (void)makeSchedule(name, warmup, numbers); }, parts);
  };
  refuse("cosine", 0, {{"gamma", 0.5}}, {"'cosine'", "no gamma", "eta_min"});
  refuse("one-cycle", 0, {{"step_size", 5}}, {"step_size", "pct_start, div_factor, final_div_factor", "max_momentum"});
  refuse("constant", 0, {{"beta", 1}}, {"beta", "nothing", "start_factor"});
  refuse("constant", 0, {{"start_factor", 0.5}}, {"start_factor", "--warmup"});
  refuse("step", 0, {}, {"step_size"});
  refuse("steps", 0, {}, {"'steps'", "constant, linear, cosine, step, one-cycle"});
  refuse("step", 0, {{"step_size", 2.5}}, {"step_size", "2.5"});
  refuse("step", 0, {{"step_size", 0}}, {"step_size", "0"});
  refuse("step", 0, {{"step_size", 1e300}}, {"step_size"});
  refuse("one-cycle", 0, {{"pct_start", 1.5}}, {"pct_start", "1.5"});
  refuse("one-cycle", 0, {{"div_factor", 0}}, {"div_factor"});
  refuse("one-cycle", 0, {{"cycle_momentum", 0.5}}, {"cycle_momentum", "0.5"});
}

TEST(Schedule, momenta) {
  for (const char *name : {"momentum", "beta1", "momentum/head.*", "beta1/*"})
    EXPECT_TRUE(isMomentum(name)) << name;
  for (const char *name : {"beta2", "learning_rate", "weight_decay/momentum"})
    EXPECT_FALSE(isMomentum(name)) << name;
}
