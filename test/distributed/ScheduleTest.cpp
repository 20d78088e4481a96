#include "distributed/schedule/Generate.h"

#include "distributed/Error.h"
#include "distributed/schedule/ScheduleText.h"
#include "distributed/schedule/StageNeeds.h"
#include "distributed/schedule/StepStream.h"
#include "distributed/schedule/VerifySchedule.h"
#include "distributed/simulate/Simulation.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <map>

using namespace freestone::distributed;
using enum ScheduleKind;

namespace {

constexpr ScheduleKind allKinds[] = {GPipe, OneFOneB, Eager, Interleaved, ZeroBubble, PipeDream, DoubleBuffered};
constexpr ScheduleKind flushed[] = {GPipe, OneFOneB, Eager, ZeroBubble};

Schedule make(ScheduleKind kind, int ranks, int microBatches, int chunks = 1) {
  ScheduleOptions options = ScheduleOptions::straight(kind, ranks, microBatches);
  options.chunks = chunks;
  return generate(options);
}

Costs costsOf(const Schedule &schedule, StageCost stage) {
  Costs costs;
  costs.stages.assign(schedule.stages(), stage);
  return costs;
}

Simulation simulateOf(Schedule schedule, const Costs &costs) {
  std::vector<StageEdge> edges = chainOf(schedule.stages());
  addTransfers(schedule, edges);
  return simulate(schedule, edges, costs);
}

double makespanOf(const Schedule &schedule, StageCost stage = {}, double latency = 0) {
  Costs costs = costsOf(schedule, stage);
  if (latency > 0)
    costs.transfer = [=](int, int, int, int) { return TransferCost{latency, 0}; };
  Simulation simulation = simulateOf(schedule, costs);
  EXPECT_EQ(simulation.deadlock, "");
  return simulation.makespan;
}

/// Stages of an interleaved schedule are as many times smaller.
StageCost chunkOf(int chunks) { return {1.0 / chunks, 1.0 / chunks, 1.0 / chunks}; }

/// The most micro-batches that a rank keeps, in units of what a whole rank computes.
std::vector<double> keptOf(const Schedule &schedule, int chunks = 1) {
  std::vector<double> most;
  for (const std::vector<Action> &list : schedule.ranks) {
    int kept = 0, largest = 0;
    for (const Action &action : list) {
      kept += action.kind == ActionKind::Forward;
      largest = std::max(largest, kept);
      kept -= action.kind == ActionKind::Backward || action.kind == ActionKind::WeightGradient;
    }
    most.push_back(static_cast<double>(largest) / chunks);
  }
  return most;
}

/// Sends and receives of each pair of stages, in the order of their posts.
void expectMatchingTransfers(const Schedule &schedule) {
  std::map<std::tuple<int, int, int, int>, std::vector<int>> sent, received; // ranks and stages
  for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
    for (const Action &action : schedule.ranks[rank]) {
      if (!isTransfer(action.kind))
        continue;
      int peer = schedule.rankOf(action.peer, action.microBatch);
      EXPECT_NE(peer, rank);
      if (action.kind == ActionKind::Send)
        sent[{rank, peer, action.stage, action.peer}].push_back(action.microBatch);
      else
        received[{peer, rank, action.peer, action.stage}].push_back(action.microBatch);
    }
  EXPECT_EQ(sent, received);
}

} // namespace

TEST(ScheduleTest, isCompleteOrderedAndFreeOfDeadlockForAllSizes) {
  for (ScheduleKind kind : allKinds)
    for (int ranks = 1; ranks <= 8; ++ranks)
      for (int microBatches = 1; microBatches <= 16; ++microBatches)
        for (int chunks = 1; chunks <= (kind == Interleaved ? 4 : 1); ++chunks) {
          if (kind == DoubleBuffered && microBatches < ranks)
            continue;
          SCOPED_TRACE(nameOf(kind) + " " + std::to_string(ranks) + " ranks, " + std::to_string(microBatches) +
                       " micro-batches, " + std::to_string(chunks) + " chunks");
          ScheduleOptions options = ScheduleOptions::straight(kind, ranks, microBatches);
          options.chunks = chunks;
          if (isDelayed(kind))
            options.steps = kind == PipeDream ? microBatches : 3;
          if (kind == PipeDream)
            options.microBatches = 1;
          Schedule schedule = generate(options);
          ASSERT_NO_THROW(verifySchedule(schedule));
          std::vector<StageEdge> edges = chainOf(schedule.stages());
          addTransfers(schedule, edges);
          expectMatchingTransfers(schedule);
          Simulation simulation = simulate(schedule, edges, costsOf(schedule, {}));
          ASSERT_EQ(simulation.deadlock, "");
        }
}

TEST(ScheduleTest, skipEdgesAndRecomputationAreFreeOfDeadlock) {
  for (ScheduleKind kind : {GPipe, OneFOneB, Eager, Interleaved, ZeroBubble})
    for (int ranks = 2; ranks <= 5; ++ranks)
      for (int microBatches : {1, 2, 3, 7}) {
        ScheduleOptions options = ScheduleOptions::straight(kind, ranks, microBatches);
        options.chunks = kind == Interleaved ? 2 : 1;
        options.recompute = true;
        Schedule schedule = generate(options);
        ASSERT_NO_THROW(verifySchedule(schedule));
        std::vector<StageEdge> edges = chainOf(schedule.stages());
        edges.push_back({0, schedule.stages() - 1});
        edges.push_back({0, schedule.stages() - 1, /*hasGradient=*/false});
        std::erase_if(edges, [&](const StageEdge &edge) { return edge.from == 0 && edge.to == 1 && ranks > 2; });
        addTransfers(schedule, edges);
        Simulation simulation = simulate(schedule, edges, costsOf(schedule, {1, 1, 1, 1}));
        ASSERT_EQ(simulation.deadlock, "") << nameOf(kind) << " " << ranks << " " << microBatches;
      }
}

TEST(ScheduleTest, makespansAreTheClosedForms) {
  for (int p = 1; p <= 8; ++p)
    for (int m = 1; m <= 16; ++m) {
      EXPECT_EQ(makespanOf(make(GPipe, p, m)), 3 * (m + p - 1));
      EXPECT_EQ(makespanOf(make(OneFOneB, p, m)), 3 * (m + p - 1));
      EXPECT_EQ(makespanOf(make(Eager, p, m)), 3 * (m + p - 1));
      if (m >= p)
        EXPECT_EQ(makespanOf(make(ZeroBubble, p, m)), 3 * m + p - 1) << p << " " << m;
      for (int v = 1; v <= 4; ++v)
        if (m % p == 0)
          EXPECT_NEAR(makespanOf(make(Interleaved, p, m, v), chunkOf(v)), 3 * m + 3.0 * (p - 1) / v, 1e-9)
              << p << " " << m << " " << v;
    }
}

TEST(ScheduleTest, makespansOfUnequalPasses) {
  for (int p = 2; p <= 8; ++p)
    for (auto [f, b, w] : {std::tuple(10, 9, 11), {10, 12, 8}, {9, 9, 9}, {5, 10, 3}}) {
      StageCost cost{double(f), double(b), double(w)};
      int m = 16, bubble = (p - 1) * (w <= b ? f + b - w : f);
      EXPECT_EQ(makespanOf(make(ZeroBubble, p, m), cost), m * (f + b + w) + bubble)
          << p << " " << f << " " << b << " " << w;
      EXPECT_EQ(makespanOf(make(OneFOneB, p, m), cost), (m + p - 1) * (f + b + w));
    }
}

TEST(ScheduleTest, unequalStagesTakeTheSumAndTheSlowest) {
  std::vector<double> times = {2, 5, 3, 4};
  Costs costs;
  for (double time : times)
    costs.stages.push_back({time, time, time});
  double expected = 3 * (14 + 15 * 5);
  EXPECT_EQ(simulateOf(make(GPipe, 4, 16), costs).makespan, expected);
  EXPECT_LE(simulateOf(make(OneFOneB, 4, 16), costs).makespan, expected);
}

TEST(ScheduleTest, transfersDelayOneFOneBMost) {
  StageCost cost{1, 1, 1};
  EXPECT_EQ(makespanOf(make(GPipe, 4, 16), cost, 0.5), 60);
  EXPECT_EQ(makespanOf(make(OneFOneB, 4, 16), cost, 0.5), 71);
  EXPECT_EQ(makespanOf(make(Eager, 4, 16), cost, 0.5), 60);
  EXPECT_EQ(makespanOf(make(OneFOneB, 8, 32), cost, 0.25), 117 + 68 * 0.25);
}

TEST(ScheduleTest, keepsAsManyMicroBatchesAsTheFormulas) {
  using Counts = std::vector<double>;
  EXPECT_EQ(keptOf(make(GPipe, 4, 8)), (Counts{8, 8, 8, 8}));
  EXPECT_EQ(keptOf(make(OneFOneB, 4, 8)), (Counts{4, 3, 2, 1}));
  EXPECT_EQ(keptOf(make(Eager, 4, 8)), (Counts{7, 5, 3, 1}));
  EXPECT_EQ(keptOf(make(Interleaved, 4, 8, 2), 2), (Counts{5.5, 4.5, 3.5, 2.5}));
  EXPECT_EQ(keptOf(make(ZeroBubble, 4, 8)), (Counts{4, 4, 4, 4}));
  for (int p = 1; p <= 8; ++p)
    for (int m = 1; m <= 16; ++m)
      for (int s = 0; s < p; ++s) {
        EXPECT_EQ(keptOf(make(OneFOneB, p, m))[s], std::min(m, p - s));
        EXPECT_EQ(keptOf(make(Eager, p, m))[s], std::min(m, 2 * (p - s) - 1));
        EXPECT_LE(keptOf(make(ZeroBubble, p, m))[s], std::min(m, p));
      }
}

TEST(ScheduleTest, zeroBubbleHasAThirdOfTheBubble) {
  for (int p = 2; p <= 8; ++p) {
    Schedule plain = make(OneFOneB, p, 16), split = make(ZeroBubble, p, 16);
    double work = 3 * 16;
    EXPECT_EQ(3 * (makespanOf(split) - work), makespanOf(plain) - work);
  }
}

TEST(ScheduleTest, versionsOfDelayedSchedules) {
  constexpr int steps = 20;
  for (int p : {1, 2, 3, 4, 8})
    for (bool isVertical : {false, true}) {
      ScheduleOptions options = ScheduleOptions::straight(PipeDream, p, 1);
      options.steps = steps;
      options.verticalSync = isVertical;
      Schedule schedule = generate(options);
      for (const std::vector<Action> &list : schedule.ranks)
        for (const Action &action : list)
          if (action.kind == ActionKind::Forward || action.kind == ActionKind::Backward)
            EXPECT_EQ(action.version, std::max(0, action.microBatch - (p - 1 - (isVertical ? 0 : action.stage))))
                << printAction(action);
      EXPECT_EQ(countNeeds(schedule)[0].kept, std::min(p, steps));
    }
  ScheduleOptions options = ScheduleOptions::straight(DoubleBuffered, 3, 4);
  options.steps = 5;
  for (const std::vector<Action> &list : generate(options).ranks)
    for (const Action &action : list)
      if (action.kind == ActionKind::Forward || action.kind == ActionKind::Backward)
        EXPECT_EQ(action.version, std::max(0, action.microBatch / 4 - 1)) << printAction(action);
}

TEST(ScheduleTest, needsOfStages) {
  for (int p : {1, 2, 3, 4, 8}) {
    ScheduleOptions options = ScheduleOptions::straight(PipeDream, p, 1);
    options.steps = 3 * p + 2;
    std::vector<StageNeeds> needs = countNeeds(generate(options));
    for (int s = 0; s < p; ++s)
      EXPECT_EQ(needs[s], (StageNeeds{p - s, 0, p - s, 1})) << p << " " << s;
    options.verticalSync = true;
    for (const StageNeeds &need : countNeeds(generate(options)))
      EXPECT_EQ(need.versions, p);
    options = ScheduleOptions::straight(DoubleBuffered, p, 2 * p);
    options.steps = 6;
    needs = countNeeds(generate(options));
    for (int s = 0; s < p; ++s)
      EXPECT_EQ(needs[s], (StageNeeds{p - s, 0, p - s > 1 ? 2 : 1, 2})) << p << " " << s;
  }
  // What is recomputed is there for one micro-batch, or until the gradients of weights come.
  for (auto [kind, most] : {std::pair(GPipe, 1), {OneFOneB, 1}, {Eager, 1}, {ZeroBubble, 3}}) {
    ScheduleOptions options = ScheduleOptions::straight(kind, 4, 8);
    options.recompute = true;
    std::vector<StageNeeds> needs = countNeeds(generate(options));
    EXPECT_LE(std::ranges::max(needs, {}, &StageNeeds::recomputed).recomputed, most) << nameOf(kind);
    EXPECT_EQ(needs[0].recomputed, 1) << nameOf(kind);
    EXPECT_EQ(needs[3].recomputed, kind == GPipe ? 1 : 0) << nameOf(kind); // its gradients follow at once
  }
}

/// So many steps, one by one, are the schedule of them all.
static void expectSteps(ScheduleOptions options) {
  int stages = static_cast<int>(options.replicas.size());
  StepStream stream(options, chainOf(stages));
  for (int steps : {1, 2, stages + 1, 3 * stages + 5}) {
    SCOPED_TRACE(nameOf(options.kind) + " " + std::to_string(stages) + " stages, " +
                 std::to_string(options.microBatches) + " micro-batches, " + std::to_string(steps) + " steps");
    Schedule found = stream.whole(steps);
    expectMatchingTransfers(found);
    EXPECT_EQ(simulate(found, chainOf(stages), costsOf(found, {})).deadlock, "");
    options.steps = steps;
    Schedule expected = generate(options);
    ASSERT_NO_THROW(verifySchedule(expected));
    for (std::vector<Action> &list : found.ranks)
      std::erase_if(list, [](const Action &action) { return isTransfer(action.kind); });
    EXPECT_EQ(printSchedule(found), printSchedule(expected));
    for (const std::vector<Action> &list : expected.ranks)
      for (const Action &action : list)
        if (action.kind == ActionKind::Forward)
          EXPECT_EQ(stream.versionOf(action.stage, action.microBatch), action.version) << printAction(action);
  }
}

TEST(ScheduleTest, stepsOfADelayedScheduleComeOneByOne) {
  for (ScheduleKind kind : {PipeDream, DoubleBuffered})
    for (int stages : {1, 2, 3, 5})
      for (int microBatches : {1, stages, stages + 1, stages + 3})
        if (kind == PipeDream || microBatches >= stages)
          expectSteps(ScheduleOptions::straight(kind, stages, microBatches));
}

TEST(ScheduleTest, stepsOfADelayedScheduleHaveReplicas) {
  for (ScheduleKind kind : {PipeDream, DoubleBuffered})
    for (const std::vector<int> &replicas :
         {std::vector{2}, {4, 1}, {1, 4}, {2, 2}, {3, 1, 2}, {1, 3, 1}, {9, 5, 1, 1}, {2, 2, 2, 2}})
      for (int times : {1, 2, 3}) {
        ScheduleOptions options;
        options.kind = kind;
        options.replicas = replicas;
        options.microBatches = times * std::accumulate(replicas.begin(), replicas.end(), 1, std::lcm<int, int>);
        if (kind == DoubleBuffered)
          options.microBatches *= static_cast<int>(replicas.size()) + 1;
        expectSteps(options);
      }
}

/// A replica's forward pass uses what the backward passes before it have updated: all but the warm-up's.
TEST(ScheduleTest, versionsOfReplicas) {
  for (const std::vector<int> &replicas : {std::vector{2, 1}, {1, 2}, {2, 2}, {4, 2, 1}, {3, 3}}) {
    ScheduleOptions options;
    options.kind = PipeDream;
    options.replicas = replicas;
    options.microBatches = 2 * std::accumulate(replicas.begin(), replicas.end(), 1, std::lcm<int, int>);
    options.steps = 12;
    int behind = std::accumulate(replicas.begin(), replicas.end(), 0);
    Schedule schedule = generate(options);
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      int count = replicas[stage], warmUp = (behind - 1) / count + 1, ownOfStep = options.microBatches / count;
      behind -= count;
      for (int rank : schedule.ranksOf[stage])
        for (const Action &action : schedule.ranks[rank])
          if (action.kind == ActionKind::Forward || action.kind == ActionKind::Backward)
            EXPECT_EQ(action.version, std::max(0, action.microBatch / count - warmUp + 1) / ownOfStep)
                << stage << " " << printAction(action);
    }
  }
}

TEST(ScheduleTest, nothingWaitsForTheExchangeOfDoubleBufferedSteps) {
  for (int p : {2, 4, 8}) {
    ScheduleOptions options = ScheduleOptions::straight(DoubleBuffered, p, 2 * p);
    options.steps = 12;
    // The bubble is that of one flush, however many steps there are.
    EXPECT_EQ(makespanOf(generate(options)), 3 * (options.steps * options.microBatches + p - 1));
  }
}

TEST(ScheduleTest, replicasTakeTurns) {
  // The replicas of the first stage, and the forward passes of each rank before its first backward pass.
  for (auto [replicas, warmUps] : {std::pair(std::vector<int>{15, 1}, std::vector<int>{2, 1}),
                                   {{2, 1, 1}, {2, 2, 1}},
                                   {{9, 5, 1, 1}, {2, 2, 2, 1}},
                                   {{4}, {1}}}) {
    ScheduleOptions options;
    options.kind = PipeDream;
    options.microBatches = std::accumulate(replicas.begin(), replicas.end(), 1, std::lcm<int, int>);
    options.steps = 30;
    options.replicas = replicas;
    Schedule schedule = generate(options);
    ASSERT_NO_THROW(verifySchedule(schedule));
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      const std::vector<Action> &list = schedule.ranks[schedule.ranksOf[stage][0]];
      auto first = std::ranges::find(list, ActionKind::Backward, &Action::kind);
      EXPECT_EQ(first - list.begin(), warmUps[stage]);
    }
    std::vector<StageEdge> edges = chainOf(schedule.stages());
    addTransfers(schedule, edges);
    EXPECT_EQ(simulate(schedule, edges, costsOf(schedule, {})).deadlock, "");
  }
  for (ScheduleKind kind : {GPipe, OneFOneB, Eager})
    for (int microBatches : {1, 2, 5, 8}) {
      ScheduleOptions options;
      options.kind = kind;
      options.microBatches = microBatches;
      options.replicas = {3, 1, 2};
      Schedule schedule = generate(options);
      ASSERT_NO_THROW(verifySchedule(schedule));
      // Before each sum, the last backward pass of the replica, if it has any.
      for (const std::vector<Action> &list : schedule.ranks) {
        auto reduce = std::ranges::find(list, ActionKind::Reduce, &Action::kind);
        const Action *last = nullptr, *found = nullptr;
        for (size_t i = 0; i < list.size(); ++i) {
          if (list[i].kind == ActionKind::Backward && reduce != list.end())
            last = &list[i];
          if (completesGradients(std::span(list).subspan(i), microBatches)) {
            EXPECT_EQ(found, nullptr);
            found = &list[i];
          }
        }
        EXPECT_EQ(found, last);
      }
      std::vector<StageEdge> edges = chainOf(schedule.stages());
      addTransfers(schedule, edges);
      EXPECT_EQ(simulate(schedule, edges, costsOf(schedule, {})).deadlock, "");
    }
}

TEST(ScheduleTest, textRoundTrip) {
  for (ScheduleKind kind : allKinds) {
    ScheduleOptions options = ScheduleOptions::straight(kind, 3, kind == PipeDream ? 1 : 4);
    options.chunks = kind == Interleaved ? 2 : 1;
    options.steps = isDelayed(kind) ? 3 : 1;
    Schedule schedule = generate(options);
    addTransfers(schedule, chainOf(schedule.stages()));
    std::string text = printSchedule(schedule);
    Schedule again = readSchedule(text);
    EXPECT_EQ(again.ranks, schedule.ranks);
    EXPECT_EQ(again.ranksOf, schedule.ranksOf);
    EXPECT_EQ(printSchedule(again), text);
  }
  EXPECT_EQ(printSchedule(make(OneFOneB, 2, 2)), "schedule 1f1b micro-batches 2 steps 1\n"
                                                 "stages 0 1\n"
                                                 "rank 0: F0.0 F0.1 B0.0 B0.1 X0.1 U0.1\n"
                                                 "rank 1: F1.0 B1.0 F1.1 B1.1 X0.1 U1.1\n");
}

TEST(ScheduleTest, faultsAreRefused) {
  auto fault = [](const std::string &text) {
    try {
      verifySchedule(readSchedule(text));
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string head = "schedule 1f1b micro-batches 2 steps 1\nstages 0\n";
  EXPECT_EQ(fault(head + "rank 0: F0.0 F0.1 B0.0 B0.1 U0.1"), "");
  EXPECT_EQ(fault(head + "rank 0: F0.0 B0.1 B0.0 U0.1"),
            "rank 0 of the schedule: B0.1: its forward pass does not come before");
  EXPECT_EQ(fault(head + "rank 0: F0.0 F0.1 B0.1 B0.0 U0.1"),
            "rank 0 of the schedule: B0.0: micro-batches of a stage are not in ascending order");
  EXPECT_EQ(fault(head + "rank 0: F0.0 F0.1 B0.0 U0.1"),
            "rank 0 of the schedule: U0.1: the gradients of micro-batch 1 do not come before");
  EXPECT_EQ(fault(head + "rank 0: F0.0 F0.1 W0.0 B0.1 U0.1"),
            "rank 0 of the schedule: W0.0: it comes twice, or out of order");
  EXPECT_EQ(fault(head + "rank 0: F0.0 B0.0 F0.1@1 B0.1@1 U0.1"),
            "rank 0 of the schedule: F0.1@1: only 0 updates were done before");
  EXPECT_EQ(fault(head + "rank 0: F0.0 F0.1 B0.0 B0.1"),
            "rank 0 of the schedule: stage 0 is not updated at the end of the last step");
  EXPECT_EQ(fault(head + "rank 0: F0.7"), "line 3 of the schedule: F0.7 is of a micro-batch that does not exist");
  EXPECT_EQ(fault(head + "rank 0: F3.0"), "line 3 of the schedule: F3.0 is of a stage that does not exist");
  EXPECT_EQ(fault(head + "rank 0: F0,0"), "line 3 of the schedule: '.' is expected before ',0'");
  EXPECT_EQ(fault("schedule 2f1b micro-batches 2 steps 1"),
            "line 1 of the schedule: '2f1b' is no pipeline schedule: it must be gpipe, 1f1b, eager-1f1b, interleaved, "
            "zb-h1, pipedream or pipedream-2bw; did you mean '1f1b'?");
}

TEST(ScheduleTest, aDeadlockIsReported) {
  Schedule schedule = make(OneFOneB, 2, 2);
  std::vector<StageEdge> edges = chainOf(2);
  addTransfers(schedule, edges);
  // The second rank asks for the second micro-batch alone.
  std::erase_if(schedule.ranks[1],
                [](const Action &action) { return action.kind == ActionKind::Receive && action.microBatch == 0; });
  EXPECT_EQ(simulate(schedule, edges, costsOf(schedule, {})).deadlock,
            "rank 0 waits at B0.0, its action 7 of 10\nrank 1 waits at F1.0, its action 2 of 9\n");
}

TEST(ScheduleTest, optionsThatDoNotFitAreRefused) {
  EXPECT_THROW(make(DoubleBuffered, 4, 3), Error);
  EXPECT_THROW(make(GPipe, 2, 2, 2), Error);
  ScheduleOptions options = ScheduleOptions::straight(ZeroBubble, 2, 2);
  options.replicas = {2, 1};
  EXPECT_THROW(generate(options), Error);
  options = ScheduleOptions::straight(GPipe, 2, 2);
  options.steps = 2;
  EXPECT_THROW(generate(options), Error);
}
