// Prints the fp32 multiply-add throughput that one core sustains, in GFLOP/s: what a contraction is measured against. The first
// instants, when processors clock higher than they can for long, are not counted.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

// Enough independent sums to hide the latency of an FMA on every x86 with one or two FMA units.
static constexpr int sums = 12;
static constexpr int steps = 1 << 14;

template <typename Vector> [[gnu::always_inline]] static inline float chain() {
  Vector sum[sums] = {};
  // Volatile: the compiler may not know what the factors are.
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

using Vector8 = float __attribute__((vector_size(32)));
using Vector16 = float __attribute__((vector_size(64)));

[[gnu::target("avx2,fma"), gnu::noinline]] static float chain8() { return chain<Vector8>(); }
[[gnu::target("avx512f,fma"), gnu::noinline]] static float chain16() { return chain<Vector16>(); }

/// The median of many short runs.
static double measure(float (*run)(), int width) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> speeds;
  volatile float sink = 0;
  for (auto end = Clock::now() + std::chrono::milliseconds(300); speeds.empty() || Clock::now() < end;) {
    auto begin = Clock::now();
    sink = sink + run();
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    speeds.push_back(2.0 * width * sums * steps / seconds * 1e-9);
  }
  std::nth_element(speeds.begin(), speeds.begin() + speeds.size() / 2, speeds.end());
  return speeds[speeds.size() / 2];
}

int main() {
  double best = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    best = measure(chain8, 8);
  if (__builtin_cpu_supports("avx512f"))
    best = std::max(best, measure(chain16, 16));
  std::printf("%.1f\n", best);
  return best > 0 ? 0 : 1;
}
