#include "distributed/Error.h"
#include "distributed/plan/PipelineChoice.h"
#include "distributed/plan/PipelinePlan.h"
#include "distributed/profile/PipedreamProfile.h"
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>

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
    double slots = 4 - rank + 1, received = rank > 0 ? 1 : 0, sent = rank < 3 ? 1 : 0;
    EXPECT_NEAR(plan.memory[rank] / mebibyte, 4 * 4 + slots * (2 * 3 + 2 * received + 2 * sent), 1e-6);
  }
}

/// Micro-batches keep what goes between stages; gradients read what is recomputed for one of them.
TEST(Plan, CountsRecomputation) {
  constexpr double mebibyte = 1 << 20;
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB}) {
    PlanOptions options = optionsFor(kind, 4, 8);
    options.recompute = true;
    PipelinePlan plan = planPipeline(makeChain(8), options);
    for (int rank = 0; rank < 4; ++rank) {
      double slots = kind == ScheduleKind::GPipe ? 9 : 4 - rank + 1, ends = rank == 0 || rank == 3 ? 1 : 2;
      bool isFollowed = kind == ScheduleKind::OneFOneB && rank == 3; // the backward pass follows the forward pass
      EXPECT_NEAR(plan.memory[rank] / mebibyte, 4 * 4 + slots * 2 * ends + (isFollowed ? slots : 1) * 2 * 3, 1e-6);
    }
    // Of GPipe, all stages but the last one recompute while they wait for their first gradients.
    if (kind == ScheduleKind::GPipe)
      EXPECT_NEAR(plan.step.seconds, (8 + 3) * 0.02 + 8 * (0.02 + 0.04) + 3 * 0.04, 1e-6);
  }
}

TEST(Plan, TellsWhetherRecomputationFits) {
  PlanOptions options = optionsFor(ScheduleKind::GPipe, 4, 16);
  auto faultOf = [&] {
    try {
      planPipeline(makeChain(8), options);
      return std::string();
    } catch (const Error &error) {
      return std::string(error.what());
    }
  };
  options.recompute = true;
  options.memory = planPipeline(makeChain(8), options).largestMemory();
  options.recompute = false;
  EXPECT_NE(faultOf().find("and with --recompute-stages schedule gpipe would need 90.00 MiB; choose "
                           "--recompute-stages, more ranks"),
            std::string::npos)
      << faultOf();
  options.memory = 78 << 20; // unequal stages need 79 MiB
  EXPECT_NE(faultOf().find("; choose more ranks"), std::string::npos) << faultOf();
  options.recompute = true;
  EXPECT_EQ(faultOf().find("--recompute-stages"), std::string::npos) << faultOf();
}

/// Without a flush, no stage waits once the pipeline is full.
TEST(Plan, TimesTheSteadyStateOfDelayedSchedules) {
  constexpr double mebibyte = 1 << 20;
  for (int ranks : {1, 2, 4, 8})
    for (ScheduleKind kind : {ScheduleKind::PipeDream, ScheduleKind::DoubleBuffered})
      for (bool stashes : {true, false}) {
        bool isPipeDream = kind == ScheduleKind::PipeDream;
        PlanOptions options = optionsFor(kind, ranks, isPipeDream ? 1 : 8);
        options.stashesWeights = stashes;
        PipelinePlan plan = planPipeline(makeChain(8), options);
        double nodes = 8.0 / ranks;
        EXPECT_NEAR(plan.step.seconds, options.microBatches * nodes * 0.03, 1e-6) << nameOf(kind) << ranks;
        EXPECT_NEAR(plan.step.bubble, 0, 1e-6);
        EXPECT_NEAR(plan.simulation.makespan, (plan.schedule.total() + ranks - 1) * nodes * 0.03, 1e-6);
        EXPECT_EQ(plan.candidates.front().time, plan.step.seconds);
        for (int rank = 0; rank < ranks; ++rank) {
          int depth = ranks - rank, ends = (rank > 0) + (rank + 1 < ranks);
          int versions = !stashes ? 1 : isPipeDream ? depth : std::min(depth, 2), sums = isPipeDream ? 1 : 2;
          double states = (4 + versions - 1 + sums - 1) * nodes * 2;
          EXPECT_NEAR(plan.memory[rank] / mebibyte, states + (depth + 1) * (nodes * 3 + 2 * ends), 1e-6)
              << nameOf(kind) << ranks << " " << rank;
        }
      }
}

TEST(Plan, SharesMicroBatchesAmongReplicas) {
  constexpr double mebibyte = 1 << 20;
  for (int replicas : {1, 2, 4, 8}) {
    PlanOptions options = optionsFor(ScheduleKind::GPipe, 8, 16);
    options.replicas = replicas;
    options.links = {{{8, 10 * mebibyte}}, 0};
    Profile profile = makeChain(8);
    for (ProfileEdge &edge : profile.edges)
      edge.bytes = 0;
    PipelinePlan plan = planPipeline(profile, options);
    int stages = 8 / replicas, each = 16 / replicas;
    ASSERT_EQ(plan.stages.size(), static_cast<size_t>(stages));
    double sum = 2.0 * (replicas - 1) / replicas * replicas * 2 / 10; // of the gradients of as many nodes
    EXPECT_NEAR(plan.step.seconds, (each + stages - 1) * replicas * 0.03 + sum, 1e-6) << replicas;
    for (int rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(plan.stages[rank / replicas].ranks[rank % replicas], rank);
      EXPECT_NEAR(plan.memory[rank] / mebibyte, replicas * (4 * 2 + (each + 1) * 3), 1e-6);
    }
    options.schedule.reset();
    EXPECT_EQ(planPipeline(profile, options).candidates.size(), replicas == 1 ? 4u : 3u);
  }
  PlanOptions delayed = optionsFor(ScheduleKind::PipeDream, 8, 2);
  delayed.replicas = 2;
  EXPECT_NEAR(planPipeline(makeChain(8), delayed).step.seconds, 0.06, 1e-6);
  delayed.microBatches = 3;
  EXPECT_THROW(planPipeline(makeChain(8), delayed), Error);
  // Stages whose replicas can share a step's micro-batches.
  delayed.replicas = 1;
  delayed.mayReplicate = true;
  for (int microBatches : {1, 2, 3, 4}) {
    delayed.microBatches = microBatches;
    if (microBatches == 1) {
      EXPECT_THROW(planPipeline(makeChain(5), delayed), Error);
      continue;
    }
    for (int replicas : planPipeline(makeChain(5), delayed).assignment.replicas)
      EXPECT_EQ(microBatches % replicas, 0) << microBatches;
  }
  PlanOptions odd = optionsFor(ScheduleKind::GPipe, 8, 16);
  odd.replicas = 3;
  EXPECT_THROW(planPipeline(makeChain(8), odd), Error);
}

TEST(Links, ConnectGroups) {
  Links links{{{4, 1e10}, {6, 1e9}}, 0};
  auto countsOf = [&](int size) {
    std::vector<std::pair<int, double>> counts;
    if (std::optional<Links> groups = links.betweenGroups(size))
      for (const Level &level : groups->levels)
        counts.emplace_back(level.count, level.bytesPerSecond);
    return counts;
  };
  using Counts = std::vector<std::pair<int, double>>;
  EXPECT_EQ(countsOf(1), (Counts{{4, 1e10}, {6, 1e9}}));
  EXPECT_EQ(countsOf(2), (Counts{{2, 1e10}, {6, 1e9}}));
  EXPECT_EQ(countsOf(8), (Counts{{3, 1e9}}));
  EXPECT_EQ(countsOf(24), (Counts{{1, 1e9}}));
  EXPECT_EQ(countsOf(3), Counts()); // some groups would be parts of two machines
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

TEST(Plan, TakesTheFastestSchedule) {
  PlanOptions options = optionsFor(ScheduleKind::GPipe, 4, 8);
  options.schedule.reset();
  Profile profile = makeChain(16);
  for (ProfileNode &node : profile.nodes)
    node.weights = node.backward / 2;
  PipelinePlan plan = planPipeline(profile, options);
  EXPECT_EQ(plan.schedule.kind, ScheduleKind::ZeroBubble); // a third of 1F1B's bubble; that of interleaved is a half
  ASSERT_EQ(plan.candidates.size(), 5u);
  for (const PlanCandidate &candidate : plan.candidates) {
    EXPECT_GE(candidate.time, plan.simulation.makespan);
    options.schedule = candidate.schedule;
    EXPECT_EQ(planPipeline(profile, options).simulation.makespan, candidate.time) << nameOf(candidate.schedule);
  }
  EXPECT_NE(printPlan(plan).find("taken"), std::string::npos);
  EXPECT_NE(describePlan(plan).find("schedule zb-h1, 4 stages: a step of 1.08 s, a bubble of 11.1 %"),
            std::string::npos)
      << describePlan(plan);
  options.schedule.reset();
  options.stagesPerRank = 4; // a quarter
  EXPECT_EQ(planPipeline(profile, options).schedule.kind, ScheduleKind::Interleaved);
}

TEST(Plan, TakesTheLeastMemoryAmongEquals) {
  for (int ranks : {1, 4}) {
    PlanOptions options = optionsFor(ScheduleKind::GPipe, ranks, 8);
    options.schedule.reset();
    options.stagesPerRank = 32;
    PipelinePlan plan = planPipeline(makeChain(16), options); // no time for weights: ZB-H1 is as fast as 1F1B
    EXPECT_EQ(plan.schedule.kind, ScheduleKind::OneFOneB);
  }
}

TEST(Plan, KeepsToTheMemory) {
  PlanOptions options = optionsFor(ScheduleKind::GPipe, 4, 16);
  options.schedule.reset();
  Profile profile = makeChain(16);
  double before = 0, unlimited = planPipeline(profile, options).largestMemory();
  for (double part : {1.0, 0.9, 0.8, 0.7, 0.6}) {
    options.memory = part * unlimited;
    try {
      PipelinePlan plan = planPipeline(profile, options);
      EXPECT_LE(plan.largestMemory(), options.memory);
      EXPECT_GE(plan.simulation.makespan, before);
      before = plan.simulation.makespan;
    } catch (const Error &) {
      ADD_FAILURE() << part;
    }
  }
  options.memory = 1 << 20;
  try {
    planPipeline(profile, options);
    ADD_FAILURE();
  } catch (const Error &error) {
    std::string said = error.what();
    EXPECT_NE(said.find("no stages keep to 1.00 MiB a rank: schedule 1f1b would need "), std::string::npos) << said;
    double enough = std::stod(said.substr(said.find("would need ") + 11)) + 0.01;
    options.memory = enough * (1 << 20);
    EXPECT_LE(planPipeline(profile, options).largestMemory(), options.memory);
  }
}

Profile readCorpus(const std::string &name) {
  std::ifstream file(std::string(CORPUS) + "/" + name + ".txt");
  return readPipedreamProfile(file);
}

/// Nodes that read one or two of the three before.
Profile makeGraph(int nodes, uint32_t seed) {
  std::mt19937 random(seed);
  Profile profile;
  for (int node = 0; node < nodes; ++node) {
    double forward = 0.01 * (1 + random() % 20);
    double bytes = static_cast<double>(random() % 1000) * 1e4;
    profile.nodes.push_back(
        {"", forward, 2 * forward, bytes, bytes, static_cast<double>(random() % 100) * 1e5, forward});
    for (int from : std::set<int>{node - 1, node - 1 - static_cast<int>(random() % 3)})
      if (from >= 0)
        profile.edges.push_back({from, node, profile.nodes[from].activations});
  }
  return profile;
}

TEST(Plan, IsNeverSlowerThanPipedreams) {
  std::vector<Profile> profiles;
  for (const char *name : {"vgg16", "alexnet", "resnet50", "gnmt_large"})
    profiles.push_back(readCorpus(name));
  for (uint32_t seed = 0; seed < 20; ++seed)
    profiles.push_back(makeGraph(6 + seed % 10, seed));
  int compared = 0, idle = 0;
  for (const Profile &profile : profiles)
    for (const std::vector<Level> &levels :
         {std::vector<Level>{{2, 1.25e9}}, {{4, 1e8}}, {{8, 1e10}}, {{2, 1e10}, {2, 1e8}}})
      for (int parts : {1, 4, 16})
        for (bool isStraight : {false, true}) {
          if (&profile - &profiles.front() == 3 && levels.size() == 2)
            continue; // long
          PlanOptions options;
          options.ranks = levels.size() == 2 ? 4 : levels.front().count;
          options.microBatches = parts;
          options.links = {levels, 1e-5};
          options.mayReplicate = !isStraight;
          if (isStraight && options.ranks > 6)
            continue; // of some profiles, more than nodes
          PipelinePlan plan = planPipeline(profile, options);
          options.rules = CostRules::Pipedream;
          PipelinePlan other = planPipeline(profile, options);
          auto works = [](const StagePlan &stage) { return stage.forward + stage.backward > 0; };
          EXPECT_TRUE(std::ranges::all_of(plan.stages, works));
          // Without replicas, all ranks have a stage with work, although fewer of them may be faster.
          if (!isStraight || std::ranges::all_of(other.stages, works))
            EXPECT_LE(plan.simulation.makespan, other.simulation.makespan * (1 + 1e-6));
          compared += other.stages.size() > 1;
          idle += !isStraight && !std::ranges::all_of(other.stages, works);
        }
  EXPECT_GT(compared, 300);
  EXPECT_GT(idle, 0);
}

TEST(Plan, InterleavedStagesHaveNoReplicas) {
  PlanOptions options = optionsFor(ScheduleKind::Interleaved, 4, 4);
  options.mayReplicate = true;
  EXPECT_THROW(planPipeline(makeChain(16), options), Error);
  options.mayReplicate = false;
  options.rules = CostRules::Pipedream;
  EXPECT_THROW(planPipeline(makeChain(16), options), Error);
}

TEST(Plan, ChoicesAreReadAsTheyArePrinted) {
  PipelineChoice choice{{0, 0, 1}, 2, {2, 1, 1}, ScheduleKind::ZeroBubble, R"({"levels": [1e9]})"};
  EXPECT_EQ(PipelineChoice::read(choice.print()), choice);
  EXPECT_THROW(PipelineChoice::read("{}"), Error);
}

} // namespace
