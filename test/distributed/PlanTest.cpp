#include "distributed/Error.h"
#include "distributed/plan/PipelinePlan.h"
#include <gtest/gtest.h>

using namespace freestone::distributed;

namespace {

/// Nodes of 10 ms forward and 20 ms backward, between which 1 MiB goes.
Profile makeChain(int nodes) {
  constexpr double mebibyte = 1 << 20;
  Profile profile;
  for (int node = 0; node < nodes; ++node) {
    profile.nodes.push_back({"n" + std::to_string(node), 0.01, 0.02, mebibyte, 3 * mebibyte, 2 * mebibyte});
    if (node > 0)
      profile.edges.push_back({node - 1, node, mebibyte});
  }
  return profile;
}

PlanOptions optionsFor(ScheduleKind schedule, int ranks, int microBatches) {
  PlanOptions options;
  options.schedule = schedule;
  options.ranks = ranks;
  options.microBatches = microBatches;
  options.links = {{{ranks, 1e15}}, 0};
  return options;
}

TEST(Plan, TakesTheTimeOfTheClosedForm) {
  for (int ranks : {1, 2, 4, 8})
    for (int parts : {1, 4, 8}) {
      PipelinePlan plan = planPipeline(makeChain(16), optionsFor(ScheduleKind::GPipe, ranks, parts));
      double stage = 16.0 / ranks * 0.03;
      EXPECT_NEAR(plan.simulation.makespan, (parts + ranks - 1) * stage, 1e-6);
      EXPECT_NEAR(plan.oneRank, parts * 16 * 0.03, 1e-9);
    }
}

TEST(Plan, CountsMemory) {
  PlanOptions options = optionsFor(ScheduleKind::OneFOneB, 4, 8);
  options.statesPerParameter = 4;
  PipelinePlan plan = planPipeline(makeChain(8), options);
  constexpr double mebibyte = 1 << 20;
  for (int rank = 0; rank < 4; ++rank) {
    double slots = 4 - rank + 1, received = rank > 0 ? 1 : 0;
    EXPECT_NEAR(plan.memory[rank] / mebibyte, 4 * 4 + slots * (2 * 3 + 2 * received), 1e-6);
  }
}

TEST(Plan, SlowLinksCostTime) {
  PlanOptions fast = optionsFor(ScheduleKind::Eager, 4, 8), slow = fast;
  slow.links = {{{2, 1e15}, {2, 1e8}}, 1e-4};
  EXPECT_GT(planPipeline(makeChain(8), slow).simulation.makespan,
            planPipeline(makeChain(8), fast).simulation.makespan + 0.01);
  EXPECT_EQ(slow.links.between(0, 1), 1e15);
  EXPECT_EQ(slow.links.between(1, 2), 1e8);
}

TEST(Plan, GoesToManyRanks) {
  PlanOptions options = optionsFor(ScheduleKind::OneFOneB, 1024, 64);
  options.mayReplicate = true;
  options.links = Links::parse(R"({"latency": 1e-5, "levels": [{"ranks": 8, "bytes_per_second": 5e10},
                                                               {"ranks": 128, "bytes_per_second": 5e9}]})");
  PipelinePlan plan = planPipeline(makeChain(24), options);
  EXPECT_EQ(plan.schedule.ranks.size(), 1024u);
  EXPECT_NE(printPlan(plan).find("1008 more"), std::string::npos);
}

TEST(Plan, RefusesLinksOfOtherRanks) {
  PlanOptions options = optionsFor(ScheduleKind::GPipe, 4, 1);
  options.links = {{{3, 1e9}}, 0};
  EXPECT_THROW(planPipeline(makeChain(8), options), Error);
  EXPECT_THROW(Links::parse(R"({"levels": []})"), Error);
  EXPECT_THROW(Links::parse(R"({"levels": [{"ranks": 0, "bytes_per_second": 1}]})"), Error);
  EXPECT_THROW(Links::parse("x"), Error);
}

TEST(Plan, DrawsWhatRanksDo) {
  std::string text = printPlan(planPipeline(makeChain(4), optionsFor(ScheduleKind::GPipe, 2, 2)));
  EXPECT_NE(
      text.find("schedule gpipe, 2 micro-batches: a step takes 180.00 ms, 1.33 times faster than one rank; bubble "
                "33.3 %"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(std::string(11, 'F')), std::string::npos) << text;
}

} // namespace
