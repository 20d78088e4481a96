// Loops and branches of many workers on few CPUs, one of which may be busy with something else.
#include "test/runtime/Models.h"

#include <atomic>
#include <chrono>
#include <pthread.h>
#include <sched.h>
#include <thread>

using namespace freestone;
using namespace freestone::test;

namespace {

struct Results {
  std::vector<int64_t> y, sums, trips;
  bool operator==(const Results &) const = default;
};

/// What Loops.c computes, by one thread.
Results computeLoops(const std::vector<int64_t> &x, int64_t limit) {
  const size_t n = x.size();
  std::vector<uint64_t> state(x.begin(), x.end()), sums(n);
  int64_t trip = 0, lefts = 0;
  for (bool goesOn = true; goesOn && trip < limit; ++trip) {
    const bool isLeft = state[0] >> 33 & 1;
    std::vector<uint64_t> after(n);
    size_t found = 0;
    for (size_t i = 0; i < n; ++i) {
      after[i] = state[i] * 6364136223846793005u + state[(i + 1) % n];
      after[i] = isLeft ? after[i] ^ after[i] >> 29 : after[i] + static_cast<uint64_t>(trip);
      if (after[i] >> 40 & 1)
        sums[found++] += after[i];
    }
    lefts += isLeft;
    goesOn = (after[0] >> 20 & 255) != 0;
    state = after;
  }
  return {{state.begin(), state.end()}, {sums.begin(), sums.end()}, {trip, lefts}};
}

/// Keeps one of the CPUs that this process may use busy.
class BusyCpu {
public:
  BusyCpu() : thread([this] { burn(); }) {}
  ~BusyCpu() {
    isOver = true;
    thread.join();
  }

private:
  void burn() {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu)
      if (CPU_ISSET(cpu, &allowed))
        CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    while (!isOver)
      ;
  }

  std::atomic<bool> isOver = false;
  std::thread thread;
};

using Clock = std::chrono::steady_clock;

/// Runs of several lengths, with 1 to 8 workers; whatever hangs is cancelled when a minute is over.
void checkLoops() {
  Artifact artifact = loadLoops();
  Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  for (int threads = 1; threads <= 8; ++threads) {
    freestone_instance_options options = {};
    options.struct_size = sizeof(options);
    options.threads = threads;
    options.user = &end;
    options.cancelled = [](void *user) -> int32_t { return Clock::now() > *static_cast<Clock::time_point *>(user); };
    Instance instance(artifact, options);
    uint64_t runs = 0, iterations = 0;
    bool haveDataEnded = false;
    for (int64_t size : {1, 3, 37, 200})
      for (int64_t most : {0, 1, 7, 400}) {
        std::vector<int64_t> x(size), limit = {most};
        for (int64_t i = 0; i < size; ++i)
          x[i] = static_cast<int64_t>(static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C1 + size);
        instance.setInput(0, viewOf(x));
        instance.setInput(1, viewOf(limit));
        instance.run();
        Results actual = {valuesOf<int64_t>(instance.output(0)), valuesOf<int64_t>(instance.output(1)),
                          valuesOf<int64_t>(instance.output(2))};
        EXPECT_EQ(actual, computeLoops(x, most)) << threads << " workers, size " << size << ", limit " << most;
        ++runs;
        iterations += static_cast<uint64_t>(actual.trips[0]);
        haveDataEnded = haveDataEnded || (actual.trips[0] > 7 && actual.trips[0] < most);
      }
    freestone_counters counters = countersOf(instance);
    EXPECT_EQ(counters.entries, runs);
    EXPECT_EQ(counters.host_calls, iterations); // for the size that each one finds
    EXPECT_TRUE(haveDataEnded);
  }
}

} // namespace

TEST(Loop, EqualBitsOnAnyNumberOfWorkers) { checkLoops(); }

TEST(Loop, EqualBitsWhereACpuIsBusy) {
  BusyCpu busy;
  checkLoops();
}
