// Prints the speed of one contraction with run-time sizes, one thread, packing included, and what the compilation took.
// Usage: contraction-speed [target]. Compare with `freestone-peak`.
#include "test/codegen/ProgramRunner.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace freestone::test;

/// Seconds that this thread has computed: what else runs on the machine is not counted.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static std::string product(const std::string &name, const std::string &wType) {
  return "tile.program @" + name + R"( symbols [m, n, k]
      (%x: !graph.tensor<[m, k], f32>, %w: )" + wType + R"() -> (!graph.tensor<[m, n], f32>) {
    %r = tile.compute [m, n, k] [parallel, parallel, reduction]
      ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
      ^bb0(%a: f32, %b: f32, %acc: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %acc, %p : f32
        tile.yield %s : f32
      } : (!graph.tensor<[m, k], f32>, )" + wType + R"() -> !graph.tensor<[m, n], f32>
    tile.return %r : !graph.tensor<[m, n], f32>
  })";
}

int main(int count, char **arguments) {
  std::string target = count > 1 ? arguments[1] : "host";
  int64_t width = target == "x86-64-v3" ? 16 : 32;
  std::string panels = "!graph.tensor<[k, n], f32, #tile.panels<axis = 1, width = " + std::to_string(width) + ">>";
  ProgramRunner runner(product("inputs", "!graph.tensor<[k, n], f32>") + product("weight", panels), target);
  if (!runner.error().empty()) {
    std::fputs(runner.error().c_str(), stderr);
    return 1;
  }
  std::printf("compiled in %.3f s\n", runner.compileSeconds());
  const int64_t sizes[][3] = {{512, 512, 512},    {1024, 1024, 1024}, {509, 511, 513},  {128, 1024, 1024},
                              {1024, 1152, 384}, {1, 1024, 1024},    {16, 1024, 1024}, {64, 64, 64}};
  for (auto [m, n, k] : sizes) {
    GuardedMemory x(m * k * 4), w((n + width - 1) / width * width * k * 4), y(m * n * 4);
    std::printf("%4ld x %4ld x %4ld", long(m), long(n), long(k));
    for (const char *name : {"inputs", "weight"}) {
      double best = 1e9;
      double end = now() + 0.4;
      for (int run = 0; run < 3 || now() < end; ++run) {
        double begin = now();
        runner.run(name, {x.as<void>(), w.as<void>(), y.as<void>()}, {m, n, k});
        best = std::min(best, now() - begin);
      }
      std::printf("  %s %7.1f GFLOP/s", name, 2e-9 * m * n * k / best);
    }
    std::printf("\n");
  }
}
