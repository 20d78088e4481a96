#include "test/runtime/Models.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace freestone;
using namespace freestone::test;

namespace {

/// Runs `count` phases, each a wait of all workers for all.
class PhasesRun {
public:
  explicit PhasesRun(freestone_instance_options options) : artifact(loadPhases()), instance(artifact, options) {
    instance.setInput(0, viewOf(count));
    instance.setInput(1, viewOf(failing));
  }
  void run(int64_t phases, int64_t failingWorker = -1) {
    count[0] = phases;
    failing[0] = failingWorker;
    instance.run();
  }

  std::vector<int64_t> count = {0}, failing = {-1};
  Artifact artifact;
  Instance instance;
};

freestone_instance_options optionsFor(int threads) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  return options;
}

} // namespace

TEST(Gang, AllWorkersSeeAllPhases) {
  for (int threads : {1, 2, 5, 16}) {
    PhasesRun phases(optionsFor(threads));
    for (int round = 0; round < 5; ++round) {
      phases.run(200 + round);
      Tensor y = phases.instance.output(0);
      for (int worker = 0; worker < threads; ++worker)
        EXPECT_EQ(y.data<int64_t>()[worker], 200 + round);
    }
  }
}

TEST(Gang, AFailingWorkerEndsTheRunForAll) {
  for (int threads : {1, 2, 5}) {
    PhasesRun phases(optionsFor(threads));
    for (int worker = 0; worker < threads; ++worker) {
      errorOf(FREESTONE_RUN_FAILED, [&] { phases.run(100, worker); });
      errorOf(FREESTONE_INVALID_ARGUMENT, [&] { phases.instance.output(0); });
      phases.run(50);
      EXPECT_EQ(phases.instance.output(0).data<int64_t>()[threads - 1], 50);
    }
  }
}

TEST(Gang, TheCallerCancels) {
  struct Poll {
    int calls = 0, limit = 0;
  } poll;
  for (int threads : {1, 3}) {
    freestone_instance_options options = optionsFor(threads);
    options.user = &poll;
    options.cancelled = [](void *user) -> int32_t {
      auto *poll = static_cast<Poll *>(user);
      return poll->limit && ++poll->calls >= poll->limit;
    };
    PhasesRun phases(options);
    poll = {0, 20};
    EXPECT_EQ(errorOf(FREESTONE_CANCELLED, [&] { phases.run(10000); }), "the run was cancelled");
    EXPECT_EQ(poll.calls, 20);
    poll = {};
    phases.run(30);
    EXPECT_EQ(phases.instance.output(0).data<int64_t>()[0], 30);
  }
}

TEST(Gang, SaysHowManyWorkersAndWhy) {
  std::string logged;
  freestone_instance_options options = optionsFor(0);
  options.user = &logged;
  options.log = [](void *user, freestone_log_level, const char *message) {
    *static_cast<std::string *>(user) += message;
  };
  setenv("FREESTONE_NUM_THREADS", "1", 1);
  PhasesRun phases(options);
  unsetenv("FREESTONE_NUM_THREADS");
  EXPECT_EQ(phases.instance.threads(), 1);
  EXPECT_NE(logged.find("1 worker ("), std::string::npos) << logged;
  EXPECT_NE(logged.find("FREESTONE_NUM_THREADS 1"), std::string::npos) << logged;
}

TEST(Gang, OneInstanceRunsOnceAtATime) {
  std::atomic<bool> running = false, stop = false;
  struct Shared {
    std::atomic<bool> *running, *stop;
  } shared{&running, &stop};
  freestone_instance_options options = optionsFor(1);
  options.user = &shared;
  options.cancelled = [](void *user) -> int32_t {
    auto *shared = static_cast<Shared *>(user);
    shared->running->store(true);
    while (!shared->stop->load())
      std::this_thread::yield();
    return 0;
  };
  PhasesRun phases(options);
  std::thread first([&] { phases.run(1); });
  while (!running.load())
    std::this_thread::yield();
  std::string message = errorOf(FREESTONE_INVALID_ARGUMENT, [&] { phases.instance.run(); });
  EXPECT_NE(message.find("running already"), std::string::npos);
  stop.store(true);
  first.join();
}

TEST(Gang, TracesWhatEveryWorkerDoes) {
  freestone_instance_options options = optionsFor(2);
  options.trace = 1;
  PhasesRun phases(options);
  for (int64_t count : {20, 10}) {
    phases.run(count);
    std::vector<freestone_trace_span> spans(1000);
    size_t found = 0;
    check(freestone_instance_trace(phases.instance.get(), spans.data(), spans.size(), &found));
    ASSERT_EQ(found, static_cast<size_t>(4 * count)); // each worker computes and waits once a phase
    for (size_t i = 0; i < found; ++i) {
      EXPECT_EQ(spans[i].worker, i < found / 2 ? 0 : 1);
      EXPECT_EQ(spans[i].is_wait, static_cast<int32_t>(i % 2));
      EXPECT_EQ(spans[i].last_phase, static_cast<int64_t>(i % (found / 2) / 2));
      EXPECT_LE(spans[i].begin_ns, spans[i].end_ns);
      EXPECT_GE(spans[i].begin_ns, 0);
    }
  }
  size_t found = 0;
  PhasesRun untraced(optionsFor(2));
  untraced.run(10);
  check(freestone_instance_trace(untraced.instance.get(), nullptr, 0, &found));
  EXPECT_EQ(found, 0u);
}

/// Idle workers sleep away from each other's CPUs and are woken before their run is ready, unless that is switched off.
TEST(Gang, IdleWorkersParkAndAreAlerted) {
  const bool hasRoom = PhasesRun(optionsFor(0)).instance.threads() >= 2;
  for (uint32_t switchedOff : {0, int(FREESTONE_MOVES), int(FREESTONE_ALERTS)}) {
    freestone_instance_options options = optionsFor(2);
    options.switched_off = switchedOff;
    PhasesRun phases(options);
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2)); // longer than any spin
      phases.run(10 + round);
      EXPECT_EQ(phases.instance.output(0).data<int64_t>()[1], 10 + round);
    }
    freestone_counters counters = countersOf(phases.instance);
    EXPECT_EQ(counters.parks > 0, hasRoom && switchedOff != FREESTONE_MOVES);
    EXPECT_EQ(counters.alerts > 0, hasRoom && switchedOff != FREESTONE_ALERTS);
  }
}

/// A crew that starts threads for each run, if it is asked for no more than it has.
struct TestCrew {
  int32_t threads;
  int calls = 0;

  static int32_t lend(void *user, int32_t workers, void (*body)(void *data, int32_t worker), void *data) {
    auto &crew = *static_cast<TestCrew *>(user);
    ++crew.calls;
    if (workers > crew.threads)
      return 0;
    std::vector<std::thread> others;
    for (int32_t worker = 1; worker < workers; ++worker)
      others.emplace_back(body, data, worker);
    body(data, 0);
    for (std::thread &other : others)
      other.join();
    return 1;
  }
};

/// Runs are those of the crew's threads, or where there are too few, of the instance's own; also in turns, behind
/// failures, and in the queue. One worker borrows nothing.
TEST(Gang, BorrowsThreads) {
  for (int threads : {1, 2, 5})
    for (uint32_t switchedOff : {0, int(FREESTONE_CREW)}) {
      TestCrew crew{threads};
      freestone_instance_options options = optionsFor(threads);
      options.crew = TestCrew::lend;
      options.user = &crew;
      options.switched_off = switchedOff;
      PhasesRun phases(options);
      const bool borrows = threads > 1 && !switchedOff;
      uint64_t runs = 0;
      auto expect = [&](int64_t count) {
        EXPECT_EQ(phases.instance.output(0).data<int64_t>()[threads - 1], count);
        EXPECT_EQ(countersOf(phases.instance).borrowed, borrows ? ++runs : 0);
      };
      phases.run(100);
      expect(100);
      crew.threads = 1;
      phases.run(101);
      EXPECT_EQ(phases.instance.output(0).data<int64_t>()[threads - 1], 101);
      EXPECT_EQ(countersOf(phases.instance).borrowed, runs);
      crew.threads = threads;
      errorOf(FREESTONE_RUN_FAILED, [&] { phases.run(100, threads - 1); });
      runs += borrows;
      phases.run(102);
      expect(102);
      phases.count[0] = 103;
      phases.instance.wait(phases.instance.submit());
      expect(103);
      EXPECT_EQ(crew.calls, borrows ? 5 : 0);
    }
}

/// The counters add up; the cost of a phase is printed, not tested.
TEST(Gang, ManyShortPhases) {
  for (int threads : {1, 2, 8}) {
    PhasesRun phases(optionsFor(threads));
    phases.run(1000);
    const int64_t count = threads > 2 ? 1000 : 10000;
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      auto begin = std::chrono::steady_clock::now();
      phases.run(count);
      std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      best = std::min(best, time.count() / static_cast<double>(count));
      for (int worker = 0; worker < threads; ++worker)
        EXPECT_EQ(phases.instance.output(0).data<int64_t>()[worker], count);
    }
    freestone_counters counters = countersOf(phases.instance);
    EXPECT_LE(counters.sleeps, counters.waits);
    EXPECT_LE(counters.waits, static_cast<uint64_t>((1000 + 5 * count) * threads * (threads - 1)));
    RecordProperty("nanoseconds_" + std::to_string(threads), std::to_string(best));
    std::printf("%d workers: %.0f ns a phase, %llu waits, %llu sleeps\n", threads, best,
                static_cast<unsigned long long>(counters.waits), static_cast<unsigned long long>(counters.sleeps));
  }
}
