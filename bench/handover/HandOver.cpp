// Prints nanoseconds: for a cache line that goes from one CPU to another and back; for a phase at the end of which each
// of two workers waits for the other, as compiled code does; and for a phase whose number is published and awaited by
// nobody, on one worker and on two.

#include "bench/PinToCpu.h"
#include "runtime/workers/Gang.h"
#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace freestone::runtime;
using Clock = std::chrono::steady_clock;

constexpr int64_t count = 100000;

static double nanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(count);
}

/// The median of turns of `measure`.
template <typename Measure> static double medianOf(Measure measure) {
  std::vector<double> times;
  for (int turn = 0; turn < 15; ++turn)
    times.push_back(measure());
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

static double handOverLine() {
  alignas(128) std::atomic<int64_t> there = 0;
  alignas(128) std::atomic<int64_t> back = 0;
  std::thread other([&] {
    freestone::bench::pinToCpu(1);
    for (int64_t number = 0; number <= count; ++number) {
      while (there.load(std::memory_order_acquire) <= number)
        ;
      back.store(number + 1, std::memory_order_release);
    }
  });
  double time = 0;
  std::thread one([&] {
    freestone::bench::pinToCpu(0);
    Clock::time_point begin;
    for (int64_t number = 0; number <= count; ++number) {
      if (number == 1) // the other one has begun
        begin = Clock::now();
      there.store(number + 1, std::memory_order_release);
      while (back.load(std::memory_order_acquire) <= number)
        ;
    }
    time = nanosecondsSince(begin);
  });
  one.join();
  other.join();
  return time;
}

template <bool waits> static int32_t runPhases(freestone_run_context *context, int64_t worker) {
  const int64_t base = context->base;
  for (int64_t phase = 0; phase < count; ++phase) {
    const int64_t all = ~phase;
    context->publish(context, worker, base + phase + 1);
    if (waits && context->wait_for(context, worker, base, &all, 1))
      return 1;
  }
  if (worker == 0)
    context->end = base + count;
  return 0;
}

template <bool waits> static double runGang(int workers) {
  std::unique_ptr<Gang> gang = std::move(*Gang::start(workers, Switches(), {}));
  const freestone_entry entry = {nullptr, runPhases<waits>};
  freestone_run_context context = {};
  gang->run(context, entry);
  return medianOf([&] {
    Clock::time_point begin = Clock::now();
    gang->run(context, entry);
    return nanosecondsSince(begin);
  });
}

int main() {
  std::printf("%.1f a cache line there and back\n", medianOf(handOverLine));
  std::printf("%.1f a phase, each of two workers waits for the other\n", runGang<true>(2));
  std::printf("%.1f a phase, published and not awaited, one worker\n", runGang<false>(1));
  std::printf("%.1f a phase, published and not awaited, two workers\n", runGang<false>(2));
  return 0;
}
