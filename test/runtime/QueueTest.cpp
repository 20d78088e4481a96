// Queued runs: results, errors, and cost.
#include "test/runtime/Hold.h"
#include "test/runtime/Models.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace freestone;
using namespace freestone::test;
using namespace std::chrono_literals;

namespace {

freestone_instance_options queueOptions(int threads, int depth = 0, uint32_t switchedOff = 0) {
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.queue_depth = depth;
  options.switched_off = switchedOff;
  return options;
}

/// Views of outputs, without taking ownership.
template <typename T> std::vector<T> outputOf(const Instance &instance) {
  DLTensor view = {};
  check(freestone_instance_output(instance.get(), 0, &view));
  int64_t count = 1;
  for (int axis = 0; axis < view.ndim; ++axis)
    count *= view.shape[axis];
  return {static_cast<T *>(view.data), static_cast<T *>(view.data) + count};
}

/// Whether a thread of this process is blocked, rather than waiting for a CPU.
bool isAsleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  size_t name = text.rfind(')');
  return name != std::string::npos && text.compare(name, 3, ") S") == 0;
}

#if defined(__has_feature)
constexpr bool isThreadSanitized = __has_feature(thread_sanitizer);
/// AddressSanitizer delays the reuse of freed memory.
constexpr bool isAddressSanitized = __has_feature(address_sanitizer);
#else
constexpr bool isThreadSanitized = false, isAddressSanitized = false;
#endif

} // namespace

TEST(Queue, GivesEveryRunItsOwnOutputs) {
  for (uint32_t switchedOff : {0, int(FREESTONE_OVERLAP), int(FREESTONE_SPIN | FREESTONE_MOVES)})
    for (int threads : {1, 2, 5})
      for (int depth : {1, 2, 4}) {
        Instance instance(loadReverse(), queueOptions(threads, depth, switchedOff));
        std::vector<std::vector<float>> inputs;
        for (int run = 1; run <= 20; ++run) {
          inputs.push_back(ramp(100 + 30 * (run % 7)));
          instance.setInput(0, viewOf(inputs.back()));
          EXPECT_EQ(instance.submit(), run);
          if (int64_t oldest = run - depth + 1; oldest >= 1) {
            instance.wait(oldest);
            EXPECT_EQ(outputOf<float>(instance), reversed(inputs[oldest - 1]));
          }
        }
        instance.wait();
        EXPECT_EQ(countersOf(instance).runs, 20u);
        EXPECT_EQ(countersOf(instance).submits, 20u);
        // The caller's thread may run something in between.
        instance.run();
        EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(inputs.back()));
        EXPECT_EQ(instance.submit(), 22);
        instance.wait();
      }
}

TEST(Queue, TakesNoMoreThanItsDepth) {
  for (int depth : {1, 2, 3}) {
    Hold hold;
    freestone_instance_options options = queueOptions(1, depth);
    options.user = &hold;
    options.cancelled = Hold::poll;
    Instance instance(loadPhases(), options);
    std::vector<int64_t> count = {1}, failing = {-1};
    instance.setInput(0, viewOf(count));
    instance.setInput(1, viewOf(failing));
    std::atomic<int> submitted = 0;
    std::atomic<pid_t> hostThread = 0;
    std::thread host([&] {
      hostThread = gettid();
      for (int run = 0; run < depth + 2; ++run, ++submitted)
        instance.submit();
    });
    hold.awaitInside();
    while (submitted < depth || !isAsleep(hostThread))
      std::this_thread::yield();
    EXPECT_EQ(submitted, depth);
    hold.mayLeave = true;
    host.join();
    instance.wait();
    EXPECT_EQ(countersOf(instance).runs, static_cast<uint64_t>(depth + 2));
    EXPECT_GE(countersOf(instance).host_waits, 1u);
  }
}

TEST(Queue, CopiesSmallInputs) {
  Artifact artifact = loadTrain();
  Instance instance(artifact, queueOptions(2));
  std::vector<float> x(4);
  instance.setInput(0, viewOf(x));
  for (int run = 1; run <= 100; ++run) {
    x = {static_cast<float>(run), 0, 0, 1};
    instance.submit();
    x = {-1e9, -1e9, -1e9, -1e9}; // the run need not be waited for
  }
  instance.wait();
  EXPECT_EQ(instance.state().data<float>(0)[0], 1 + 5050);
  EXPECT_EQ(instance.state().data<float>(0)[3], 4 + 100);
}

TEST(Queue, TellsOfOutputsThatAreGone) {
  Instance instance(loadReverse(), queueOptions(1, 2));
  std::vector<float> x = ramp(5);
  instance.setInput(0, viewOf(x));
  for (int run = 0; run < 3; ++run)
    instance.submit();
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.wait(1); }),
            "the outputs of run 1 are gone: later runs have taken their place");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.wait(4); }), "there is no run 4 yet");
  errorOf(FREESTONE_INVALID_ARGUMENT, [&] { instance.output(0); });
  instance.wait(2);
  instance.wait(3);
  EXPECT_EQ(valuesOf<float>(instance.output(0)), reversed(x));
}

TEST(Queue, TellsAtTheNextCallWhichRunFailed) {
  const std::string reason = "run 2 of entry 'main': program 'p0', node '/embed/Gather': an index is out of range";
  for (int threads : {1, 3}) {
    Hold hold;
    Instance instance(loadLookup(), queueOptions(threads, 3));
    std::vector<float> table = ramp(50);
    // Larger than copied inputs.
    std::vector<int64_t> good(20, 3), bad(20, 50);
    instance.setInput(0, viewOf(table));
    auto submit = [&](const std::vector<int64_t> &index) {
      instance.setInput(1, viewOf(index));
      return instance.submit();
    };
    // The program never waits, so only a call before it can hold it; memory is reserved while nothing is held.
    instance.setInput(1, viewOf(good));
    check(freestone_instance_prepare(instance.get()));
    instance.submitCall([](void *user) { Hold::poll(user); }, &hold);
    submit(good);
    submit(bad);
    submit(good);
    hold.mayLeave = true;
    // Whichever call comes next reports the failure.
    EXPECT_EQ(errorOf(FREESTONE_RUN_FAILED,
                      [&] {
                        for (;;)
                          submit(good);
                      }),
              reason);
    EXPECT_EQ(countersOf(instance).runs, 2u);

    // After the report the queue is empty and usable again.
    int64_t next = submit(good);
    instance.wait(next);
    EXPECT_EQ(outputOf<float>(instance), std::vector<float>(20, 4));
    next = submit(bad);
    std::string message = errorOf(FREESTONE_RUN_FAILED, [&] { instance.wait(next); });
    EXPECT_NE(message.find("run " + std::to_string(next) + " of entry 'main'"), std::string::npos) << message;
    errorOf(FREESTONE_RUN_FAILED, [&] { instance.wait(next); });
    submit(bad);
    errorOf(FREESTONE_RUN_FAILED, [&] { instance.wait(); });
    submit(bad);
    errorOf(FREESTONE_RUN_FAILED, [&] {
      for (;;)
        instance.submitCall([](void *) {}, nullptr);
    });
    // Including runs queued behind the failed one.
    submit(bad);
    instance.setInput(1, viewOf(good));
    message = errorOf(FREESTONE_RUN_FAILED, [&] { instance.run(); });
    EXPECT_NE(message.find(" of entry 'main'"), std::string::npos) << message;
    instance.run();
  }
}

TEST(Queue, DropsWhatComesBehindAFailure) {
  Hold hold;
  freestone_instance_options options = queueOptions(1, 4);
  options.user = &hold;
  options.cancelled = Hold::poll;
  Instance instance(loadPhases(), options);
  std::vector<int64_t> count = {10}, failing = {0};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  instance.submit();
  failing[0] = -1;
  instance.submit();
  std::atomic<bool> called = false;
  instance.submitCall([](void *user) { *static_cast<std::atomic<bool> *>(user) = true; }, &called);
  hold.mayLeave = true;
  std::string message = errorOf(FREESTONE_RUN_FAILED, [&] { instance.wait(2); });
  EXPECT_EQ(message, "run 1 of entry 'main': a size that was computed overflows 64 bits in program 'p0', "
                     "node 'phase 5'");
  EXPECT_EQ(errorOf(FREESTONE_CANCELLED, [&] { instance.wait(2); }),
            "run 2 was not started, since one before it had failed");
  EXPECT_FALSE(called);
  EXPECT_EQ(countersOf(instance).runs, 1u);
}

TEST(Queue, EndsWithWorkInFlight) {
  std::vector<int64_t> failing = {-1};
  for (int64_t phases : {0, 1, 10000})
    for (int threads : {1, 2, 4}) {
      Artifact artifact = loadPhases();
      for (int round = 0; round < 10; ++round) {
        std::vector<int64_t> count = {phases};
        Instance instance(artifact, queueOptions(threads));
        instance.setInput(0, viewOf(count));
        instance.setInput(1, viewOf(failing));
        instance.submit();
        instance.submit();
      }
    }
  // No submitted job is lost.
  Artifact artifact = loadTrain();
  State state(artifact);
  std::vector<float> x = {1, 1, 1, 1};
  for (int round = 0; round < 20; ++round) {
    Instance instance(artifact, "main", state, 2);
    instance.setInput(0, viewOf(x));
    instance.submit();
    instance.submit();
  }
  EXPECT_EQ(*state.data<int64_t>(1), 40);
}

TEST(Queue, RunsOnOneStateAreDoneInTheOrderOfTheirSubmission) {
  Artifact artifact = loadTrain();
  State state(artifact);
  Hold hold;
  freestone_instance_options options = queueOptions(1);
  options.user = &hold;
  options.cancelled = Hold::poll;
  options.state = state.get();
  Instance trainer(artifact, options), evaluator(artifact, "evaluate", state, 1);
  std::vector<float> x = {1, 1, 1, 1};
  trainer.setInput(0, viewOf(x));
  trainer.submit();
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { evaluator.run(); }),
            "another instance is running on the same state; they take turns");
  int64_t run = evaluator.submit();
  trainer.submit();
  hold.mayLeave = true;
  evaluator.wait(run);
  EXPECT_EQ(valuesOf<float>(evaluator.output(0)), (std::vector<float>{2, 3, 4, 5}));
  trainer.wait();
  evaluator.run();
  EXPECT_EQ(valuesOf<float>(evaluator.output(0)), (std::vector<float>{3, 4, 5, 6}));

  for (int step = 3; step <= 200; ++step) {
    trainer.submit();
    run = evaluator.submit();
    if (step % 7)
      continue;
    evaluator.wait(run);
    EXPECT_EQ(outputOf<float>(evaluator)[0], 1.0f + static_cast<float>(step));
  }
  trainer.wait();
  evaluator.wait();
  trainer.run();
}

TEST(Queue, AFailureIsToldToWhoeverComesNextOnTheSameState) {
  Artifact artifact = loadTrain();
  State state(artifact);
  Hold hold;
  freestone_instance_options options = queueOptions(2);
  options.user = &hold;
  options.cancelled = [](void *user) -> int32_t { return Hold::poll(user) + 1; };
  options.state = state.get();
  Instance trainer(artifact, options), evaluator(artifact, "evaluate", state, 1);
  std::vector<float> x = {1, 1, 1, 1};
  trainer.setInput(0, viewOf(x));
  trainer.submit();
  evaluator.submit();
  hold.mayLeave = true;
  const char *reason = "run 1 of entry 'main': the run was cancelled";
  EXPECT_EQ(errorOf(FREESTONE_CANCELLED, [&] { evaluator.wait(1); }), reason);
  EXPECT_EQ(countersOf(evaluator).runs, 0u);
  // Reported once; then all continue.
  evaluator.wait(evaluator.submit());
}

TEST(Queue, CallsBetweenRuns) {
  for (uint32_t switchedOff : {0, int(FREESTONE_OVERLAP)}) {
    Artifact artifact = loadTrain();
    Instance trainer(artifact, queueOptions(2, 2, switchedOff));
    State state = trainer.state();
    std::vector<float> x = {1, 1, 1, 1};
    trainer.setInput(0, viewOf(x));
    struct Snapshot {
      State *state;
      std::vector<std::pair<int64_t, float>> seen;
    } snapshot{&state, {}};
    for (int step = 0; step < 200; ++step) {
      trainer.submit();
      if (step % 3 == 0)
        trainer.submitCall(
            [](void *user) {
              auto &snapshot = *static_cast<Snapshot *>(user);
              snapshot.seen.push_back({*snapshot.state->data<int64_t>(1), snapshot.state->data<float>(0)[0]});
              // The next run reads the written value.
              snapshot.state->data<float>(0)[1] = 0;
            },
            &snapshot);
    }
    trainer.wait();
    ASSERT_EQ(snapshot.seen.size(), 67u);
    for (size_t i = 0; i < snapshot.seen.size(); ++i) {
      EXPECT_EQ(snapshot.seen[i].first, static_cast<int64_t>(3 * i + 1));
      EXPECT_EQ(snapshot.seen[i].second, static_cast<float>(3 * i + 2));
    }
    EXPECT_EQ(state.data<float>(0)[1], 1);
  }
}

/// A run ends only after the next one has been submitted, as by a host that prepares runs ahead: the workers never wait
/// for the host.
TEST(Queue, TakesTheNextRunWhileOneIsUnderWay) {
  static constexpr int64_t runs = 200;
  struct Gate {
    std::atomic<int64_t> begun = 0, submitted = 0;
  } gate;
  freestone_instance_options options = queueOptions(1);
  options.user = &gate;
  options.cancelled = [](void *user) -> int32_t { // after a run of one phase
    auto &gate = *static_cast<Gate *>(user);
    for (int64_t next = std::min(++gate.begun + 1, runs); gate.submitted < next;)
      std::this_thread::yield();
    return 0;
  };
  Instance instance(loadPhases(), options);
  std::vector<int64_t> count = {1}, failing = {-1};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  for (int64_t run = 1; run <= runs; ++run) {
    ASSERT_EQ(instance.submit(), run);
    gate.submitted = run;
    if (run > 1)
      instance.wait(run - 1);
  }
  instance.wait();
  EXPECT_EQ(gate.begun, runs);
  EXPECT_EQ(countersOf(instance).starved, 1u) << "after the last run";
}

TEST(Queue, DoesOneThingAfterAnotherWithoutOverlap) {
  Instance instance(loadPhases(), queueOptions(1, 2, FREESTONE_OVERLAP));
  std::vector<int64_t> count = {100}, failing = {-1};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  for (uint64_t run = 1; run <= 20; ++run) {
    instance.submit();
    EXPECT_EQ(countersOf(instance).runs, run);
    bool called = false;
    instance.submitCall([](void *user) { *static_cast<bool *>(user) = true; }, &called);
    EXPECT_TRUE(called);
  }
  instance.wait();
  EXPECT_EQ(countersOf(instance).starved, 0u) << "there is no queue";
  EXPECT_EQ(countersOf(instance).host_waits, 0u);
}

TEST(Queue, ManyTinyStepsNeedNoMoreMemory) {
  Artifact artifact = loadTrain();
  Instance instance(artifact, queueOptions(2));
  std::vector<float> x = {1, 1, 1, 1};
  instance.setInput(0, viewOf(x));
  // Excludes file pages: code that runs for the first time is paged in.
  auto anonymousPages = [] {
    std::ifstream file("/proc/self/statm");
    long all = 0, resident = 0, ofFiles = 0;
    file >> all >> resident >> ofFiles;
    return resident - ofFiles;
  };
  auto steps = [&](int count) {
    for (int step = 0; step < count; ++step)
      instance.submit();
    instance.wait();
  };
  const int count = isThreadSanitized ? 2000 : 20000;
  steps(1000);
  uint64_t allocations = countersOf(instance).allocations;
  long before = anonymousPages();
  steps(count);
  EXPECT_EQ(countersOf(instance).allocations, allocations);
  if (!isThreadSanitized && !isAddressSanitized)
    EXPECT_LE(anonymousPages(), before + 16);
  EXPECT_EQ(*instance.state().data<int64_t>(1), count + 1000);
}

TEST(Queue, ParksWhenIdle) {
  if (isThreadSanitized)
    GTEST_SKIP() << "its own threads use the CPU too";
  Instance instance(loadTrain(), queueOptions(4));
  std::vector<float> x = {1, 1, 1, 1};
  instance.setInput(0, viewOf(x));
  for (int step = 0; step < 100; ++step)
    instance.submit();
  instance.wait();
  std::this_thread::sleep_for(100ms);
  auto cpuSeconds = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  };
  double before = cpuSeconds();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpuSeconds() - before, 0.005);
}

/// Time from a submission to the start of the sleeping queue thread; for workers see bench/overlap.
TEST(Queue, WakesSleepers) {
  std::vector<double> micros;
  Instance instance(loadPhases(), queueOptions(1));
  std::vector<int64_t> count = {0}, failing = {-1};
  instance.setInput(0, viewOf(count));
  instance.setInput(1, viewOf(failing));
  struct Moment {
    std::atomic<int64_t> at = 0;
  } moment;
  for (int round = 0; round < 100; ++round) {
    instance.wait();
    std::this_thread::sleep_for(3ms);
    int64_t begin = Timeline::now();
    instance.submitCall([](void *user) { static_cast<Moment *>(user)->at = Timeline::now(); }, &moment);
    instance.wait();
    micros.push_back(static_cast<double>(moment.at - begin) * 1e-3);
  }
  std::ranges::sort(micros);
  // The time is recorded, not tested: on a busy machine the thread may wait for a CPU.
  RecordProperty("median_microseconds", std::to_string(micros[50]));
  std::printf("a sleeper wakes in %.1f us (median), %.1f us (90 %%)\n", micros[50], micros[90]);
  EXPECT_GT(micros[0], 0);
}

TEST(Queue, RefusesADepthThatMakesNoSense) {
  for (int depth : {-1, 1025})
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(loadReverse(), queueOptions(1, depth)); }),
              "the depth of the queue must be 0 (automatic) or 1 to 1024");
}
