// Prints the median speed of contractions (m x n x k) with run-time sizes in GFLOP/s, one thread, packing included, and what the
// compilation took: with B in panels, and with A and B as they are (n) or transposed (t) in memory.
// Usage: contraction-speed [target]. Compare with `freestone-peak`.
#include "test/codegen/ProgramRunner.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>

using namespace freestone::test;

/// Seconds that this thread has computed: what else runs on the machine is not counted.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// `x` and `w` may be stored transposed.
static std::string product(const std::string &name, bool xTransposed, bool wTransposed, const std::string &wLayout = "") {
  std::string x = std::string("!graph.tensor<") + (xTransposed ? "[k, m]" : "[m, k]") + ", f32>";
  std::string w = std::string("!graph.tensor<") + (wTransposed ? "[n, k]" : "[k, n]") + ", f32" + wLayout + ">";
  std::string y = "!graph.tensor<[m, n], f32>", map = "affine_map<(d0, d1, d2) -> ";
  return "tile.program @" + name + " symbols [m, n, k] (%x: " + x + ", %w: " + w + ") -> (" + y + R"() {
    %r = tile.compute [m, n, k] [parallel, parallel, reduction]
      ins(%x : )" + map + (xTransposed ? "(d2, d0)" : "(d0, d2)") + ">, %w : " + map + (wTransposed ? "(d1, d2)" : "(d2, d1)") +
         R"(>) init [0.0 : f32] {
      ^bb0(%a: f32, %b: f32, %acc: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        tile.yield %s : f32
      } : ()" + x + ", " + w + ") -> " + y + "\n    tile.return %r : " + y + "\n  }";
}

int main(int count, char **arguments) {
  std::string target = count > 1 ? arguments[1] : "host";
  int64_t width = target == "x86-64-v3" ? 16 : 32;
  std::string panels = ", #tile.panels<axis = 1, width = " + std::to_string(width) + ">";
  ProgramRunner runner(product("weight", false, false, panels) + product("nn", false, false) + product("nt", false, true) +
                           product("tn", true, false) + product("tt", true, true),
                       target);
  if (!runner.error().empty()) {
    std::fputs(runner.error().c_str(), stderr);
    return 1;
  }
  std::printf("compiled in %.3f s\n", runner.compileSeconds());
  const int64_t sizes[][3] = {{512, 512, 512},    {1024, 1024, 1024}, {509, 511, 513},  {128, 1024, 1024},
                              {1024, 1536, 384}, {1024, 384, 1536},  {384, 1536, 1024}, {128, 1024, 784},
                              {784, 1024, 128},  {1024, 1024, 128},  {16, 1024, 1024}, {64, 64, 64}};
  for (auto [m, n, k] : sizes) {
    GuardedMemory x(m * k * 4), w((n + width - 1) / width * width * k * 4), y(m * n * 4);
    std::printf("%4ld x %4ld x %4ld", long(m), long(n), long(k));
    std::mt19937 engine(1);
    for (GuardedMemory *memory : {&x, &w})
      for (float *value = memory->as<float>(), *end = value + memory->size() / 4; value < end; ++value)
        *value = std::uniform_real_distribution<float>(-1, 1)(engine);
    for (const char *name : {"weight", "nn", "nt", "tn", "tt"}) {
      std::vector<double> times;
      double end = now() + 0.1;
      for (int run = 0; run < 3 || now() < end; ++run) {
        double begin = now();
        runner.run(name, {x.as<void>(), w.as<void>(), y.as<void>()}, {m, n, k});
        times.push_back(now() - begin);
      }
      std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
      std::printf("  %s %5.1f", name, 2e-9 * m * n * k / times[times.size() / 2]);
    }
    std::printf("\n");
  }
}
