#include "test/runtime/Hold.h"
#include "test/runtime/Models.h"

#include <atomic>
#include <thread>

using namespace freestone;
using namespace freestone::test;

namespace {

/// Indices of the states of Train, whose run is done with `watchedSteps` after its first phase, and with
/// `watchedWeights` after both.
enum : size_t { watchedWeights = 0, watchedSteps = 1 };

constexpr int64_t mark = 1000;

/// An instance of Train, whose worker 0 calls `poll` between the phases.
class TrainRun {
public:
  TrainRun(int threads, int32_t (*poll)(void *user) = nullptr, void *user = nullptr)
      : artifact(loadTrain()), instance(artifact, optionsFor(threads, poll, user)), state(instance.state()) {
    instance.setInput(0, viewOf(x));
  }
  int64_t &stepsDone() { return *state.data<int64_t>(watchedSteps); }

  std::vector<float> x = {1, 1, 1, 1};
  Artifact artifact;
  Instance instance;
  State state;

private:
  static freestone_instance_options optionsFor(int threads, int32_t (*poll)(void *user), void *user) {
    freestone_instance_options options = {};
    options.struct_size = sizeof(options);
    options.threads = threads;
    options.cancelled = poll;
    options.user = user;
    options.queue_depth = 3;
    return options;
  }
};

int32_t cancel(void *) { return 1; }

} // namespace

TEST(Watch, KnowsTheLastUses) {
  TrainRun train(1);
  EXPECT_EQ(train.instance.lastUse(watchedSteps), 1);
  EXPECT_EQ(train.instance.lastUse(watchedWeights), 2);
  Instance evaluate(train.artifact, "evaluate", train.state);
  EXPECT_EQ(evaluate.lastUse(watchedSteps), 0);
  EXPECT_EQ(evaluate.lastUse(watchedWeights), 1);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { evaluate.lastUse(2); }), "there is no state 2");
}

TEST(Watch, AStateIsFreeWhileTheRunGoesOn) {
  for (int threads : {1, 2, 3, 4}) {
    Hold hold;
    TrainRun train(threads, Hold::poll, &hold);
    Watch watch(train.instance);
    watch.nextRun();
    std::atomic<bool> hasEnded = false;
    std::thread watcher([&] {
      watch.wait(watchedSteps);
      EXPECT_EQ(train.stepsDone(), 1);
      train.stepsDone() = mark;
      hold.awaitInside(); // worker 0 is between the phases
      EXPECT_FALSE(hasEnded);
      hold.mayLeave = true;
      watch.wait(watchedWeights);
      EXPECT_EQ(train.state.data<float>(watchedWeights)[3], 5);
    });
    train.instance.run();
    hasEnded = true;
    watcher.join();
    EXPECT_EQ(train.stepsDone(), mark);
    // A run that has ended long ago.
    watch.wait(watchedWeights);
    watch.wait(watchedSteps);
  }
}

TEST(Watch, ManyRunsAreWatchedOneByOne) {
  constexpr int runs = 500;
  for (int threads : {1, 2, 3, 4}) {
    TrainRun train(threads);
    Watch watch(train.instance);
    std::atomic<int> announced = 0, watched = 0;
    std::thread watcher([&] {
      for (int run = 1; run <= runs; ++run) {
        while (announced < run)
          std::this_thread::yield();
        watch.wait(watchedSteps);
        EXPECT_EQ(train.stepsDone(), run);
        watch.wait(watchedWeights);
        EXPECT_EQ(train.state.data<float>(watchedWeights)[0], 1.0f + static_cast<float>(run));
        watched = run;
      }
    });
    for (int run = 1; run <= runs; ++run) {
      watch.nextRun();
      announced = run;
      train.instance.run();
      while (watched < run)
        std::this_thread::yield();
    }
    watcher.join();
  }
}

TEST(Watch, QueuedRunsHaveWatchesOfTheirOwn) {
  for (int threads : {1, 3}) {
    Hold hold;
    TrainRun train(threads, Hold::poll, &hold);
    Watch first(train.instance), second(train.instance);
    first.nextRun();
    train.instance.submit();
    second.nextRun();
    int64_t last = train.instance.submit();
    first.wait(watchedSteps);
    EXPECT_EQ(train.stepsDone(), 1);
    hold.mayLeave = true;
    second.wait(watchedWeights);
    EXPECT_EQ(train.state.data<float>(watchedWeights)[0], 3);
    first.wait(watchedWeights);
    train.instance.wait(last);
  }
}

TEST(Watch, WhateverEndsTheRunEndsTheWaits) {
  auto expectFailed = [](Watch &watch) {
    EXPECT_NE(errorOf(FREESTONE_RUN_FAILED, [&] { watch.wait(watchedWeights); }).find("has failed"), std::string::npos);
  };
  for (int threads : {1, 2, 4}) {
    TrainRun cancelled(threads, cancel);
    Watch watch(cancelled.instance);
    watch.nextRun();
    std::thread watcher([&] { expectFailed(watch); });
    errorOf(FREESTONE_CANCELLED, [&] { cancelled.instance.run(); });
    watcher.join();
    expectFailed(watch);
    // What is queued behind it is not started.
    Watch dropped(cancelled.instance);
    watch.nextRun();
    cancelled.instance.submit();
    dropped.nextRun();
    try {
      cancelled.instance.submit();
    } catch (const Error &) { // the first one has failed already, which is told here
    }
    expectFailed(dropped);
    expectFailed(watch);
  }
  Artifact artifact = loadTrain();
  Instance refused(artifact);
  Watch watch(refused);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { watch.wait(watchedWeights); }),
            "the watch is about no run: call next_run first");
  watch.nextRun();
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { refused.run(); }); // an input is not set
  expectFailed(watch);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { watch.wait(2); }), "there is no state 2");
}

TEST(Watch, IsGivenUp) {
  TrainRun train(2);
  Watch watch(train.instance);
  watch.nextRun();
  std::thread watcher([&] {
    EXPECT_NE(errorOf(FREESTONE_CANCELLED, [&] { watch.wait(watchedSteps); }).find("given up"), std::string::npos);
  });
  watch.giveUp();
  watcher.join();
  train.instance.run();
  watch.nextRun();
  train.instance.run();
  watch.giveUp(); // too late to mean anything
  watch.wait(watchedSteps);
  EXPECT_EQ(train.stepsDone(), 2);
}
