// Whole trainings: overlapping work, which changes no result.
#include "test/train/Learning.h"
#include "train/Error.h"
#include <numeric>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

namespace {

class TrainingRun : public Learning {};

TEST_F(TrainingRun, WhatGoesOnBesideItChangesNoResult) {
  train::StepTrainer plain = trainer({2, FREESTONE_OVERLAP});
  TrainingResult expected = run(plain, optionsFor("plain"));
  EXPECT_EQ(expected.steps, steps);
  EXPECT_EQ(expected.counters.hostReads, steps);
  EXPECT_LT(expected.evaluation.value().loss, 1e-3);
  for (int threads : {1, 2, 3}) {
    Timeline timeline(data.folder / "trace.json");
    train::StepTrainer beside = trainer({threads, 0, timeline.get()});
    TrainingOptions options = optionsFor("beside" + std::to_string(threads));
    int saved = 0;
    options.onSave = [&](const std::string &folder) {
      ++saved;
      EXPECT_TRUE(std::filesystem::exists(folder + "/manifest.json"));
      EXPECT_FALSE(beside.isUnderWay());
    };
    TrainingResult result = run(beside, options);
    timeline.write();
    EXPECT_EQ(saved, steps / 7 + 1);
    EXPECT_EQ(result.steps, steps);
    // After evaluations and checkpoints.
    EXPECT_LE(result.counters.hostReads, steps / 7 + steps / 11 + 2);
    if (threads == plain.threads()) {
      EXPECT_EQ(weightsOf(beside), weightsOf(plain));
      EXPECT_EQ(result.lastLoss, expected.lastLoss);
    }
  }
}

TEST_F(TrainingRun, ACheckpointIsTheStateAfterItsStep) {
  train::StepTrainer whole = trainer();
  run(whole, optionsFor("whole"));
  TrainingOptions options = optionsFor("parts");
  options.steps = 25;
  train::StepTrainer first = trainer();
  EXPECT_EQ(run(first, options).steps, 25);
  // Nothing after the checkpoint of step 21 is left.
  std::filesystem::remove_all(options.folder + "/checkpoints/step-000025");
  options.steps = {};
  options.resume = true;
  train::StepTrainer second = trainer();
  TrainingResult result = run(second, options);
  EXPECT_EQ(result.counters.steps, steps - 21);
  EXPECT_EQ(weightsOf(second), weightsOf(whole));
  EXPECT_EQ(readText(options.folder + "/evaluations.jsonl"), readText(data.folder / "whole/evaluations.jsonl"));
}

TEST_F(TrainingRun, WhoeverHearsOfEveryStepHoldsNoneUp) {
  train::StepTrainer quiet = trainer(), told = trainer(), read = trainer();
  TrainingResult expected = run(quiet, optionsFor("quiet"));
  EXPECT_LE(expected.counters.hostReads, steps / 11 + 2);
  TrainingOptions options = optionsFor("told");
  std::vector<int64_t> numbers;
  int underWay = 0;
  options.onStep = [&](const StepMetrics &metrics) {
    numbers.push_back(metrics.step);
    underWay += told.isUnderWay();
  };
  TrainingResult result = run(told, options);
  EXPECT_EQ(result.counters.hostReads, expected.counters.hostReads);
  EXPECT_EQ(underWay, steps - result.counters.hostReads);
  std::vector<int64_t> all(steps);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(numbers, all);
  EXPECT_EQ(weightsOf(told), weightsOf(quiet));

  options = optionsFor("read");
  options.readEachStep = true;
  options.onStep = [&](const StepMetrics &) { EXPECT_FALSE(read.isUnderWay()); };
  EXPECT_EQ(run(read, options).counters.hostReads, steps);
  EXPECT_EQ(weightsOf(read), weightsOf(quiet));
}

TEST_F(TrainingRun, EndsAfterTheStepUnderWay) {
  for (bool readEachStep : {false, true}) {
    train::StepTrainer stopped = trainer();
    TrainingOptions options = optionsFor(readEachStep ? "at once" : "one later");
    std::atomic<bool> stop = false;
    options.stop = &stop;
    options.readEachStep = readEachStep;
    options.onStep = [&](const StepMetrics &metrics) { stop = stop || metrics.step == 5; };
    TrainingResult result = run(stopped, options);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.steps, readEachStep ? 5 : 6);
    EXPECT_EQ(stopped.stepsDone(), result.steps);
    EXPECT_EQ(CheckpointFolder::newest(options.folder)->state().step, result.steps);
  }
}

TEST_F(TrainingRun, AnErrorOfTheCallerEndsItWithNothingUnderWay) {
  train::StepTrainer trained = trainer();
  TrainingOptions options = optionsFor("thrown");
  options.onStep = [](const StepMetrics &metrics) {
    if (metrics.step == 9)
      throw train::Error("no more");
  };
  expectError<train::Error>([&] { run(trained, options); }, {"no more"});
  EXPECT_FALSE(trained.isUnderWay());
}

} // namespace
