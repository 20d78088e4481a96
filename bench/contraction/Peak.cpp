// Prints two throughputs of fp32 multiply-adds of one core, in GFLOP/s: on registers alone, the peak for contractions;
// and fed by loads, as in a micro-kernel with its panels in L1. The first moments, at a higher clock than is
// sustainable, are not counted; time taken by other processes is, as for a contraction.
//
// `freestone-peak W` prints instead what so many threads reach at once, each on a CPU of its own, over what one does:
// with multiply-adds on registers, fed by loads, and with a stream of memory. This is wall-clock time.
//
// `freestone-peak W MIB [avx2]` prints the most that so many threads reached at once in some turns: with multiply-adds
// on registers (of AVX2 alone, if asked), and reading so many MiB again and again, each thread its part. One thread's
// is CPU time.

#include "bench/PinToCpu.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

// Enough independent sums to hide the latency of an FMA on every x86 with one or two FMA units.
static constexpr int sums = 12;

using Vector8 = float __attribute__((vector_size(32)));
using Vector16 = float __attribute__((vector_size(64)));

template <typename Vector> [[gnu::always_inline]] static inline float chain(int steps) {
  Vector sum[sums] = {};
  // Volatile, so that the factors are no compile-time constants.
  static volatile float shrink = 0.999f, grow = 0.001f;
  Vector factor = Vector{} + shrink, term = Vector{} + grow;
  for (int step = 0; step < steps; ++step) {
#pragma clang loop unroll(full)
    for (int i = 0; i < sums; ++i)
      sum[i] = sum[i] * factor + term;
  }
  float result = 0;
  for (const Vector &value : sum)
    result += value[0];
  return result;
}

[[gnu::target("avx2,fma"), gnu::noinline]] static float chain8(int steps) { return chain<Vector8>(steps); }
[[gnu::target("avx512f,fma"), gnu::noinline]] static float chain16(int steps) { return chain<Vector16>(steps); }

/// A block of 14 (6 on AVX2) rows times two vectors, as in the contraction's micro-kernels, over panels of `depth`
/// steps. In assembly, since compilers would spill some of the accumulators.
static constexpr int depth = 256;
alignas(4096) static float panelA[depth * 14], panelB[depth * 32];

#define ROW(vector, factor, left, right, at, sum0, sum1)                                                               \
  "vbroadcastss " #at "(%[a]), %%" #vector #factor "\n"                                                                \
  "vfmadd231ps %%" #vector #factor ", %%" #vector #left ", %%" #vector #sum0 "\n"                                      \
  "vfmadd231ps %%" #vector #factor ", %%" #vector #right ", %%" #vector #sum1 "\n"

// clang-format off
#define ROW16(at, sum0, sum1) ROW(zmm, 30, 28, 29, at, sum0, sum1)
#define STEP16(a, b)                                                                                                   \
  "vmovups " #b "(%[b]), %%zmm28\n" "vmovups 64+" #b "(%[b]), %%zmm29\n"                                               \
  ROW16(a+0, 0, 1) ROW16(a+4, 2, 3) ROW16(a+8, 4, 5) ROW16(a+12, 6, 7) ROW16(a+16, 8, 9) ROW16(a+20, 10, 11)           \
  ROW16(a+24, 12, 13) ROW16(a+28, 14, 15) ROW16(a+32, 16, 17) ROW16(a+36, 18, 19) ROW16(a+40, 20, 21)                  \
  ROW16(a+44, 22, 23) ROW16(a+48, 24, 25) ROW16(a+52, 26, 27)
#define ROW8(at, sum0, sum1) ROW(ymm, 14, 12, 13, at, sum0, sum1)
#define STEP8(a, b)                                                                                                    \
  "vmovups " #b "(%[b]), %%ymm12\n" "vmovups 32+" #b "(%[b]), %%ymm13\n"                                               \
  ROW8(a+0, 0, 1) ROW8(a+4, 2, 3) ROW8(a+8, 4, 5) ROW8(a+12, 6, 7) ROW8(a+16, 8, 9) ROW8(a+20, 10, 11)
// clang-format on
#define LOOP(step0, step1, bytesA, bytesB)                                                                             \
  ".p2align 6\n1:\n" step0 step1 "add $" #bytesA ", %[a]\nadd $" #bytesB ", %[b]\ndec %[pairs]\njnz 1b\n"

[[gnu::target("avx512f,fma"), gnu::noinline]] static float block16(int repeats) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const float *a = panelA, *b = panelB;
    long pairs = depth / 2;
    asm volatile(LOOP(STEP16(0, 0), STEP16(56, 128), 112, 256)
                 : [a] "+r"(a), [b] "+r"(b), [pairs] "+r"(pairs)::"memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                   "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
                   "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "cc");
  }
  return 0;
}

[[gnu::target("avx2,fma"), gnu::noinline]] static float block8(int repeats) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const float *a = panelA, *b = panelB;
    long pairs = depth / 2;
    asm volatile(LOOP(STEP8(0, 0), STEP8(24, 64), 48, 128)
                 : [a] "+r"(a), [b] "+r"(b), [pairs] "+r"(pairs)::"memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
  }
  return 0;
}

/// CPU time of this process in seconds, so that other load is not counted.
static double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// The median of runs as long as a contraction, a millisecond and more.
static double measure(float (*run)(int), double operations) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> speeds;
  volatile float sink = 0;
  int repeats = static_cast<int>(2e8 / operations);
  for (auto end = Clock::now() + std::chrono::milliseconds(300); speeds.empty() || Clock::now() < end;) {
    double begin = now();
    sink = sink + run(repeats);
    speeds.push_back(operations * repeats / (now() - begin) * 1e-9);
  }
  std::nth_element(speeds.begin(), speeds.begin() + speeds.size() / 2, speeds.end());
  return speeds[speeds.size() / 2];
}

/// a = b + c of 16 MiB each, more than a core's share of any cache.
static std::function<void()> makeStream() {
  constexpr size_t count = size_t(4) << 20;
  return [a = std::vector<float>(count), b = std::vector<float>(count, 1), c = std::vector<float>(count, 2)]() mutable {
    for (size_t i = 0; i < count; ++i)
      a[i] = b[i] + c[i];
    asm volatile("" ::"r"(a.data()) : "memory");
  };
}

/// Seconds that passed, or that the process computed.
static double passed(bool isCpuTime) {
  using namespace std::chrono;
  return isCpuTime ? now() : duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Calls a second, the sum of all threads, which begin together and are counted while all of them run.
static double measureTogether(int threads, const std::function<std::function<void()>()> &make, bool isCpuTime = false) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> ready = 0;
  std::vector<double> speeds(threads);
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number)
    all.emplace_back([&, number] {
      freestone::bench::pinToCpu(number);
      std::function<void()> run = make();
      run();
      ++ready;
      while (ready < threads)
        ;
      auto runFor = [&](int milliseconds) {
        auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
        double begin = passed(isCpuTime);
        int64_t calls = 0;
        for (; Clock::now() < end; ++calls)
          run();
        return static_cast<double>(calls) / (passed(isCpuTime) - begin);
      };
      runFor(50);
      speeds[number] = runFor(200);
      runFor(50);
    });
  for (std::thread &thread : all)
    thread.join();
  double sum = 0;
  for (double speed : speeds)
    sum += speed;
  return sum;
}

/// The median of what `threads` reach over what one does, in turns.
static double measureScaling(int threads, const std::function<std::function<void()>()> &make) {
  std::vector<double> ratios;
  for (int turn = 0; turn < 5; ++turn) {
    double alone = measureTogether(1, make);
    ratios.push_back(measureTogether(threads, make) / alone);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

/// The sum of vectors; several sums, so that loads do not wait for additions.
[[gnu::target("avx2"), gnu::noinline]] static float sumOf(const std::vector<float> &values) {
  Vector8 sum[8] = {};
  for (size_t i = 0; i + 64 <= values.size(); i += 64)
#pragma clang loop unroll(full)
    for (int part = 0; part < 8; ++part) {
      Vector8 read;
      std::memcpy(&read, values.data() + i + 8 * part, sizeof(read));
      sum[part] += read;
    }
  float result = 0;
  for (const Vector8 &value : sum)
    result += value[0];
  return result;
}

/// The most of some turns, since the shortest of some runs is what is compared with it.
static double measureMost(int threads, const std::function<std::function<void()>()> &make) {
  double most = 0;
  for (int turn = 0; turn < 3; ++turn)
    most = std::max(most, measureTogether(threads, make, /*isCpuTime=*/threads == 1));
  return most;
}

static int printRates(int threads, size_t bytes, float (*chain)(int), double operations) {
  constexpr int steps = 100000;
  auto call = [](auto run) {
    volatile float sink = run();
    (void)sink;
  };
  double chains = measureMost(threads, [&] { return [=] { call([=] { return chain(steps); }); }; });
  size_t count = std::max<size_t>(bytes / threads / sizeof(float), 1024);
  double reads = measureMost(
      threads, [&] { return [=, values = std::vector<float>(count, 1)] { call([&] { return sumOf(values); }); }; });
  std::printf("%.1f GFLOP/s on registers\n", chains * operations * steps * 1e-9);
  std::printf("%.1f GB/s read\n", reads * static_cast<double>(count * sizeof(float)) * 1e-9);
  return 0;
}

static int printScaling(int threads, float (*chain)(int), float (*block)(int)) {
  auto make = [](float (*run)(int), int repeats) {
    return [=]() -> std::function<void()> {
      return [=] {
        volatile float sink = run(repeats);
        (void)sink;
      };
    };
  };
  std::printf("%.3f on registers\n%.3f fed by loads\n", measureScaling(threads, make(chain, 100000)),
              measureScaling(threads, make(block, 100)));
  std::printf("%.3f streams\n", measureScaling(threads, makeStream));
  return 0;
}

int main(int argc, char **argv) {
  std::fill(std::begin(panelA), std::end(panelA), 0.999f);
  std::fill(std::begin(panelB), std::end(panelB), 0.001f);
  double best = 0, fed = 0;
  bool isWide = __builtin_cpu_supports("avx512f");
  if (!isWide && (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")))
    return 1;
  if (argc > 2) {
    isWide = isWide && argc == 3;
    return printRates(std::max(1, std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 10) << 20,
                      isWide ? chain16 : chain8, 2.0 * (isWide ? 16 : 8) * sums);
  }
  if (argc > 1)
    return printScaling(std::max(1, std::atoi(argv[1])), isWide ? chain16 : chain8, isWide ? block16 : block8);
  if (isWide) {
    best = measure(chain16, 2.0 * 16 * sums);
    fed = measure(block16, 2.0 * 14 * 32 * depth);
  } else {
    best = measure(chain8, 2.0 * 8 * sums);
    fed = measure(block8, 2.0 * 6 * 16 * depth);
  }
  std::printf("%.1f on registers\n%.1f fed by loads\n", best, fed);
  return 0;
}
