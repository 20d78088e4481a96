// Delayed schedules beside a simulator that goes through the steps one after another, with every version of the weights
// that there has been.
#include "test/distributed/StagePipeline.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace freestone;
using namespace freestone::distributed;
using namespace freestone::test;

namespace {

/// The learning rate of a step: another one each time, so that an update with another step's shows.
double rateOf(int step) { return 0.1 * (1 + step % 3); }

/// Runs the passes of the stages in any order.
class Sequence {
public:
  explicit Sequence(const StagePipeline &stages)
      : about(stages.about), pipeline(PipelineDescription::read(*stages.artifacts.front())) {
    std::vector<StageEntry *> passes, updates;
    for (int stage = 0; stage < pipeline.stages; ++stage) {
      auto &program = programs.emplace_back(
          std::make_unique<StageProgram>(*stages.artifacts[stage], stage, pipeline, about, train::Execution{1}));
      program->setNumber("learning_rate", &rate);
      passes.insert(passes.end(), {program->find(forwardEntry), program->find(backwardEntry)});
      updates.insert(updates.end(), {program->find(normsEntry), program->find(updateEntry)});
      versions.push_back({weightsOf(stage)});
    }
    values = std::make_unique<ValueMemory>(passes, pipeline);
    numbers = std::make_unique<ValueMemory>(updates, pipeline);
    numbers->reserve(1, {{}});
    numbers->open(0, {});
  }

  int stages() const { return pipeline.stages; }
  void run(const char *entry, int stage, int64_t version, const formats::TensorView &x) {
    select(stage, version);
    std::vector<int64_t> sizes = x.shape;
    values->reserve(1, {sizes});
    values->open(0, sizes);
    programs[stage]->find(entry)->run(values->at(0), std::vector{x}, sizes);
  }
  /// Updates all stages; each knows the numbers of all others, or of those behind it.
  double update(bool knowsAll) {
    double loss = 0;
    for (int stage = 0; stage < stages(); ++stage) {
      select(stage, std::ssize(versions[stage]) - 1);
      programs[stage]->find(normsEntry)->run(numbers->at(0), {}, {});
    }
    for (int stage = 0; stage < stages(); ++stage) {
      std::vector<PlacedValue> known = numbers->at(0);
      for (size_t value = 0; value < known.size(); ++value)
        if (numbers->holds(static_cast<int>(value)) && pipeline.values[value].from.stage < stage && !knowsAll)
          known[value].data = &nothing;
      StageEntry &entry = *programs[stage]->find(updateEntry);
      entry.run(known, {}, {});
      versions[stage].push_back(weightsOf(stage));
      loss = stage == 0 ? entry.entry.scalar("loss") : loss;
    }
    return loss;
  }

  double rate = 0;

private:
  float *dataOf(int stage) {
    train::TrainedState &state = programs[stage]->state();
    return state.state().data<float>(state.find("weight/" + std::to_string(stage)).value());
  }
  std::array<float, 2> weightsOf(int stage) { return {dataOf(stage)[0], dataOf(stage)[1]}; }
  void select(int stage, int64_t version) { std::ranges::copy(versions[stage].at(version), dataOf(stage)); }

  train::StepDescription about;
  PipelineDescription pipeline;
  std::vector<std::unique_ptr<StageProgram>> programs;
  std::vector<std::vector<std::array<float, 2>>> versions; ///< of every stage
  std::unique_ptr<ValueMemory> values, numbers;
  alignas(64) float nothing = 0;
};

using Losses = std::vector<double>;
constexpr int steps = 17;

/// As `version` says: of a micro-batch, counted through all steps, and a stage.
Losses simulate(int stages, int microBatches, bool knowsAll,
                const std::function<int64_t(int microBatch, int stage)> &version) {
  StagePipeline pipeline(std::vector<StageTimes>(stages), false);
  Sequence sequence(pipeline);
  Losses losses;
  for (int step = 0; step < steps; ++step) {
    std::vector<float> x = samplesOf(step, microBatches);
    for (int part = 0; part < microBatches; ++part) {
      formats::TensorView view = {
          "x", FREESTONE_F32, {1}, {reinterpret_cast<const uint8_t *>(&x[part]), sizeof(float)}};
      int number = step * microBatches + part;
      for (int stage = 0; stage < stages; ++stage)
        sequence.run(forwardEntry, stage, version(number, stage), view);
      for (int stage = stages; stage-- > 0;)
        sequence.run(backwardEntry, stage, version(number, stage), view);
    }
    sequence.rate = rateOf(step);
    losses.push_back(sequence.update(knowsAll));
  }
  return losses;
}

Losses train(ScheduleKind kind, int stages, int microBatches,
             const std::function<void(PipelineOptions &)> &change = {}) {
  PipelineOptions options;
  options.schedule = kind;
  options.ranks = stages;
  options.microBatches = microBatches;
  options.execution.threads = 1;
  options.courier.patience = std::chrono::seconds(30);
  if (change)
    change(options);
  StagePipeline pipeline(std::vector<StageTimes>(stages), false);
  StageTraining training(pipeline, options);
  for (int step = 0; step < steps; ++step) {
    training.trainer().setNumber("learning_rate", rateOf(step));
    training.step(microBatches);
  }
  Losses losses;
  for (const train::StepMetrics &metrics : training.finish())
    losses.push_back(metrics.loss);
  return losses;
}

TEST(Delayed, PipeDreamUsesOlderWeightsOnEarlierStages) {
  for (int p : {1, 2, 3, 4}) {
    Losses expected = simulate(p, 1, /*knowsAll=*/false, [=](int t, int s) { return std::max(0, t - (p - 1 - s)); });
    EXPECT_EQ(train(ScheduleKind::PipeDream, p, 1), expected) << p;
  }
}

TEST(Delayed, VerticalSyncUsesTheVersionOfTheFirstStage) {
  for (int p : {2, 3, 4}) {
    Losses expected = simulate(p, 1, /*knowsAll=*/false, [=](int t, int) { return std::max(0, t - (p - 1)); });
    EXPECT_EQ(train(ScheduleKind::PipeDream, p, 1, [](PipelineOptions &options) { options.verticalSync = true; }),
              expected);
  }
}

TEST(Delayed, DoubleBufferedWeightsAreOneStepOlder) {
  for (int p : {1, 2, 3, 4})
    for (int m : {p, p + 1, 2 * p}) {
      Losses expected = simulate(p, m, /*knowsAll=*/true, [=](int j, int) { return std::max(0, j / m - 1); });
      EXPECT_EQ(train(ScheduleKind::DoubleBuffered, p, m), expected) << p << " " << m;
    }
}

/// With several micro-batches, or one for each replica, a step's gradients are added in the order of micro-batches.
TEST(Delayed, StepsHaveMicroBatchesAndReplicas) {
  for (auto [replicas, m] : {std::pair(std::vector{1, 1, 1}, 2),
                             {{1, 1}, 5},
                             {{1, 2}, 2},
                             {{1, 3}, 3},
                             {{1, 2, 2}, 2},
                             {{1, 4, 1}, 4},
                             {{1, 2, 1, 2}, 2}}) {
    int stages = static_cast<int>(replicas.size());
    auto change = [&](PipelineOptions &options) {
      options.replicasOf = replicas;
      options.ranks = std::accumulate(replicas.begin(), replicas.end(), 0);
    };
    auto versionOf = [&](int microBatch, int stage) {
      int count = replicas[stage], behind = std::accumulate(replicas.begin() + stage, replicas.end(), 0);
      int warmUp = (behind - 1) / count + 1;
      return std::max(0, microBatch / count - warmUp + 1) / (m / count);
    };
    SCOPED_TRACE(testing::PrintToString(replicas) + " with " + std::to_string(m) + " micro-batches");
    EXPECT_EQ(train(ScheduleKind::PipeDream, stages, m, change), simulate(stages, m, /*knowsAll=*/false, versionOf));
    if (m >= std::accumulate(replicas.begin(), replicas.end(), 0)) {
      Losses expected = simulate(stages, m, /*knowsAll=*/true, [m](int j, int) { return std::max(0, j / m - 1); });
      EXPECT_EQ(train(ScheduleKind::DoubleBuffered, stages, m, change), expected);
    }
  }
}

TEST(Delayed, OneStageIsNotDelayed) {
  EXPECT_EQ(train(ScheduleKind::PipeDream, 1, 1), train(ScheduleKind::GPipe, 1, 1));
}

TEST(Delayed, WithoutStashingTheGradientsAreOthers) {
  auto change = [](PipelineOptions &options) { options.stashesWeights = false; };
  for (ScheduleKind kind : {ScheduleKind::PipeDream, ScheduleKind::DoubleBuffered}) {
    int m = kind == ScheduleKind::PipeDream ? 1 : 3;
    EXPECT_NE(train(kind, 3, m, change), train(kind, 3, m)) << nameOf(kind);
  }
}

/// Three forward passes of one input, then three backward passes with an update each, which read the oldest weights
/// that are kept: as many backward passes as versions give the same gradient.
TEST(StateVersions, AreWhatBackwardPassesRead) {
  StagePipeline stages(std::vector<StageTimes>(2), false);
  auto pipeline = PipelineDescription::read(*stages.artifacts.front());
  for (int count : {1, 2, 3}) {
    StageProgram program(*stages.artifacts[1], 1, pipeline, stages.about, train::Execution{1});
    double rate = 1;
    program.setNumber("learning_rate", &rate);
    StateVersions versions(program.state(), count, 1);
    ValueMemory memory({program.find(forwardEntry), program.find(backwardEntry)}, pipeline);
    ValueMemory numbers({program.find(normsEntry), program.find(updateEntry)}, pipeline);
    numbers.reserve(1, {{}});
    numbers.open(0, {});
    memory.reserve(3, {{1}});
    auto find = [&](const char *name) {
      return static_cast<int>(std::ranges::find(pipeline.values, name, &PipelineValue::name) - pipeline.values.begin());
    };
    int input = find("activations/0"), gradient = find("gradient/1");
    for (int slot = 0; slot < 3; ++slot) {
      memory.open(slot, {1});
      auto *x = static_cast<float *>(memory.at(slot)[input].data);
      std::fill_n(x, memory.bytesOf(slot, input) / sizeof(float), 0.5f);
      program.find(forwardEntry)->run(memory.at(slot), {}, {1});
    }
    std::vector<std::vector<float>> gradients;
    for (int slot = 0; slot < 3; ++slot) {
      versions.select(std::max<int64_t>(0, versions.newest() - (count - 1)), 0);
      program.find(backwardEntry)->run(memory.at(slot), {}, {1});
      auto *made = static_cast<const float *>(memory.at(slot)[gradient].data);
      gradients.emplace_back(made, made + memory.bytesOf(slot, gradient) / sizeof(float));
      versions.advance(0);
      program.find(updateEntry)->run(numbers.at(0), {}, {});
    }
    EXPECT_EQ(gradients[0] == gradients[1], count >= 2) << count;
    EXPECT_EQ(gradients[0] == gradients[2], count >= 3) << count;
  }
}

} // namespace
