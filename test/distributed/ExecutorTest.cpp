#include "distributed/Error.h"
#include "test/distributed/StagePipeline.h"
#include <atomic>
#include <gtest/gtest.h>
#include <random>

using namespace freestone;
using namespace freestone::distributed;
using namespace freestone::test;

namespace {

constexpr ScheduleKind synchronous[] = {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Eager,
                                        ScheduleKind::Interleaved, ScheduleKind::ZeroBubble};

PipelineOptions optionsOf(ScheduleKind kind, int ranks, int microBatches) {
  PipelineOptions options;
  options.schedule = kind;
  options.ranks = ranks;
  options.microBatches = microBatches;
  options.execution.threads = 1;
  options.courier.patience = std::chrono::seconds(30); // a test that hangs tells where
  return options;
}

using Losses = std::vector<double>;

/// Of stages that take no time.
Losses train(ScheduleKind kind, int stages, int ranks, int microBatches, int steps, Disturbance disturbance = {}) {
  StagePipeline pipeline(std::vector<StageTimes>(stages), kind == ScheduleKind::ZeroBubble);
  StageTraining training(pipeline, optionsOf(kind, ranks, microBatches), std::move(disturbance));
  for (int step = 0; step < steps; ++step)
    training.step(2 * microBatches - (step % 3 == 2)); // some have a smaller last micro-batch
  Losses losses;
  for (const train::StepMetrics &metrics : training.finish())
    losses.push_back(metrics.loss);
  return losses;
}

TEST(RankExecutor, GivesTheBitsOfOneRank) {
  Losses expected = train(ScheduleKind::Interleaved, 4, 1, 4, 6);
  ASSERT_EQ(expected.size(), 6u);
  EXPECT_NE(expected.front(), expected.back());
  for (ScheduleKind kind : synchronous)
    for (int ranks : {2, 4}) {
      if (kind != ScheduleKind::Interleaved && ranks != 4)
        continue;
      EXPECT_EQ(train(kind, 4, ranks, 4, 6), expected) << nameOf(kind) << " on " << ranks;
    }
}

TEST(RankExecutor, DelaysChangeNoBit) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Eager, ScheduleKind::Interleaved,
                            ScheduleKind::ZeroBubble, ScheduleKind::PipeDream, ScheduleKind::DoubleBuffered}) {
    int ranks = kind == ScheduleKind::Interleaved ? 2 : 4;
    int microBatches = kind == ScheduleKind::PipeDream ? 1 : 4, steps = 48 / microBatches;
    Losses expected = train(kind, 4, ranks, microBatches, steps);
    for (unsigned seed : {1, 2, 3}) {
      std::atomic<unsigned> count = 0;
      // Some 300 messages of micro-batches, and as many headers.
      auto delay = [&](int, int, size_t) {
        return std::chrono::microseconds(std::mt19937(seed * 100'000 + count++)() % 400);
      };
      EXPECT_EQ(train(kind, 4, ranks, microBatches, steps, {delay, {}}), expected) << nameOf(kind);
      EXPECT_GT(count, 300u);
    }
  }
}

TEST(RankExecutor, SoaksWithoutGrowth) {
  constexpr int steps = 1000, ranks = 3, microBatches = 3;
  StagePipeline pipeline(std::vector<StageTimes>(ranks), false);
  StageTraining training(pipeline, optionsOf(ScheduleKind::OneFOneB, ranks, microBatches));
  for (int step = 0; step < 10; ++step)
    training.step(microBatches);
  auto before = training.trainer().memory();
  int64_t underWay = training.courier()->counters().mostUnderWay;
  for (int step = 10; step < steps; ++step)
    training.step(microBatches);
  auto after = training.trainer().memory();
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_GT(before[rank].memory.slots, 0u);
    EXPECT_EQ(before[rank].memory.slots, after[rank].memory.slots);
    EXPECT_EQ(before[rank].allocations, after[rank].allocations);
  }
  EXPECT_EQ(training.finish().size(), size_t(steps));
  EXPECT_LE(training.courier()->counters().mostUnderWay, underWay + ranks); // some wait for reports
}

/// Steps of two stages, of which the second one has replicas and gradients of several layers, whose loss depends on
/// every bit of their sums.
struct ReplicaSteps {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int replicas = 2, microBatches = 4, layers = 4, steps = 4;
  int64_t passNs = 0;
  bool overlaps = true;
  Disturbance disturbance = {};

  struct Result {
    Losses losses;
    int64_t summed = 0, overlapped = 0; ///< bytes of all ranks
  };
  Result train() const {
    StageTimes times;
    times.forward = times.backward = times.inputGradient = times.weightGradient = passNs;
    StagePipeline pipeline({times, times}, kind == ScheduleKind::ZeroBubble, layers);
    PipelineOptions options = optionsOf(kind, 1 + replicas, microBatches);
    options.replicasOf = {1, replicas};
    options.execution.switchedOff = overlaps ? 0 : FREESTONE_OVERLAP;
    StageTraining training(pipeline, options, disturbance);
    for (int step = 0; step < steps; ++step)
      training.step(2 * microBatches - (step % 3 == 2));
    Result result;
    for (const train::StepMetrics &metrics : training.finish())
      result.losses.push_back(metrics.loss);
    for (const RankReport &report : training.trainer().reports()) {
      result.summed += report.summedBytes;
      result.overlapped += report.overlappedBytes;
    }
    return result;
  }
};

TEST(RankExecutor, SumsOverReplicasHaveTheSameBitsDuringPasses) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Eager, ScheduleKind::PipeDream,
                            ScheduleKind::DoubleBuffered})
    for (auto [replicas, microBatches] : {std::pair(2, 4), {3, 6}, {3, 2}}) {
      if (isDelayed(kind) && microBatches < replicas)
        continue; // every replica has a part of each step
      ReplicaSteps steps = {kind, replicas, microBatches};
      steps.overlaps = false;
      ReplicaSteps::Result expected = steps.train();
      ASSERT_EQ(expected.losses.size(), 4u);
      EXPECT_NE(expected.losses.front(), expected.losses.back());
      EXPECT_GE(expected.summed, int64_t(replicas) * steps.steps * steps.layers * (256 << 10));
      EXPECT_EQ(expected.overlapped, 0);
      steps.overlaps = true;
      for (unsigned seed : {1, 2}) {
        std::atomic<unsigned> count = 0;
        steps.disturbance.delay = [&](int, int, size_t) {
          return std::chrono::microseconds(std::mt19937(seed * 100'000 + count++)() % 400);
        };
        ReplicaSteps::Result result = steps.train();
        EXPECT_EQ(result.losses, expected.losses) << nameOf(kind) << " with " << replicas;
        EXPECT_EQ(result.summed, expected.summed);
      }
    }
}

/// Messages take a time, but less than the rest of a pass.
TEST(RankExecutor, SumsOverReplicasBeginDuringPasses) {
  ReplicaSteps steps;
  steps.passNs = 100'000'000;
  steps.steps = 2;
  steps.disturbance.delay = [](int, int, size_t) { return std::chrono::milliseconds(1); };
  ReplicaSteps::Result result = steps.train();
  // What comes with the last layer can't begin before the end.
  EXPECT_GT(result.overlapped, 0);
  EXPECT_LT(result.overlapped, result.summed);
}

/// A wrong message of a sum ends the job while a pass runs.
TEST(RankExecutor, AFaultEndsSumsOverReplicas) {
  for (MessageKind kind : {MessageKind::ReplicaValues, MessageKind::ReplicaTotal}) {
    ReplicaSteps steps;
    steps.passNs = 10'000'000;
    std::atomic<int> messages = 0;
    steps.disturbance.corrupt = [&](int, int, int tag, void *data, size_t bytes) {
      bool isOf = tag % (static_cast<int>(MessageKind::Heartbeat) + 1) == static_cast<int>(kind);
      if (isOf && bytes == sizeof(MessageHeader) && ++messages == 3)
        static_cast<uint8_t *>(data)[0] ^= 1;
    };
    std::string fault;
    try {
      steps.train();
    } catch (const distributed::Error &error) {
      fault = error.what();
    }
    EXPECT_NE(fault.find("none of this program came instead of"), std::string::npos) << fault;
    EXPECT_NE(fault.find(kind == MessageKind::ReplicaTotal ? "sums over replicas" : "gradients of a replica"),
              std::string::npos)
        << fault;
  }
}

/// A first stage that is fast, and a last one that is slow: slots bound how far the first one goes ahead.
TEST(RankExecutor, SlotsBoundWhatIsUnderWay) {
  constexpr int microBatches = 24;
  StageTimes slow;
  slow.forward = slow.backward = 2'000'000;
  StagePipeline pipeline({StageTimes(), slow}, false);
  for (ScheduleKind kind : {ScheduleKind::OneFOneB, ScheduleKind::Eager}) {
    StageTraining training(pipeline, optionsOf(kind, 2, microBatches));
    training.step(microBatches);
    training.finish();
    Schedule schedule = generate(ScheduleOptions::straight(kind, 2, microBatches));
    int slots = countNeeds(schedule).front().slots();
    // A send and a receive for each slot, the numbers of the exchange, a command and a report.
    EXPECT_LE(training.courier()->counters().mostUnderWay, 2 * slots + 2 + 3 + 1) << nameOf(kind);
    EXPECT_LT(2 * slots, microBatches);
  }
}

/// A rank that waits tells what for, and ends the job on all ranks.
TEST(RankExecutor, AWatchdogEndsAllRanks) {
  StageTimes endless;
  endless.forward = 1'000'000'000;
  StagePipeline pipeline({StageTimes(), endless}, false);
  PipelineOptions options = optionsOf(ScheduleKind::OneFOneB, 2, 2);
  options.courier.patience = std::chrono::milliseconds(200);
  StageTraining training(pipeline, options);
  std::string fault;
  try {
    training.step(4);
  } catch (const distributed::Error &error) {
    fault = error.what();
  }
  for (const char *part :
       {"nothing has moved for 0.2 s", "rank 0 at B0.0 receives from rank 1", "gradients of step 1, micro-batch 0",
        "from stage 1 to 0", "1 tensors of 2048 bytes", "posted 0."})
    EXPECT_NE(fault.find(part), std::string::npos) << part << ": " << fault;
}

} // namespace
