// Prints the median speed of contractions (m x n x k) with run-time sizes in GFLOP/s on one thread, packing included,
// and the compile time: with packed B, with A and B plain (n) or transposed (t), and of narrower types. Usage:
// contraction-speed [target [m n k]]. Compare with `freestone-peak`.
#include "test/codegen/ProgramRunner.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

using namespace freestone;
using namespace freestone::test;

/// CPU time of this thread in seconds, so that other load is not counted.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// `x` and `w` may be stored transposed, and narrower than f32.
static std::string product(const std::string &name, bool xTransposed, bool wTransposed, const std::string &wLayout = "",
                           const std::string &stored = "f32") {
  std::string x = std::string("!graph.tensor<") + (xTransposed ? "[k, m]" : "[m, k]") + ", " + stored + ">";
  std::string w = std::string("!graph.tensor<") + (wTransposed ? "[n, k]" : "[k, n]") + ", " + stored + wLayout + ">";
  std::string y = "!graph.tensor<[m, n], f32>", map = "affine_map<(d0, d1, d2) -> ", widening, a = "%a", b = "%b";
  if (stored != "f32") {
    for (std::string *value : {&a, &b})
      widening += "%wide_" + value->substr(1) + " = arith.extf " + *value + " : " + stored + " to f32\n";
    a = "%wide_a";
    b = "%wide_b";
  }
  return "tile.program @" + name + " symbols [m, n, k] (%x: " + x + ", %w: " + w + ") -> (" + y + R"() {
    %r = tile.compute [m, n, k] [parallel, parallel, reduction]
      ins(%x : )" +
         map + (xTransposed ? "(d2, d0)" : "(d0, d2)") + ">, %w : " + map + (wTransposed ? "(d1, d2)" : "(d2, d1)") +
         ">) init [0.0 : f32] {\n^bb0(%a: " + stored + ", %b: " + stored + ", %acc: f32):\n" + widening +
         "%p = arith.mulf " + a + ", " + b + R"( : f32
        %s = arith.addf %acc, %p : f32
        tile.yield %s : f32
      } : ()" +
         x + ", " + w + ") -> " + y + "\n    tile.return %r : " + y + "\n  }";
}

int main(int count, char **arguments) {
  std::string target = count > 1 ? arguments[1] : "host";
  llvm::Expected<DeviceDescription> device = DeviceDescription::get(target);
  if (!device) {
    std::fprintf(stderr, "%s\n", llvm::toString(device.takeError()).c_str());
    return 1;
  }
  int64_t width = device->getPanelWidth(32);
  std::string panels = ", #tile.panels<axis = 1, width = " + std::to_string(width) + ">";
  ProgramRunner runner(product("weight", false, false, panels) + product("nn", false, false) +
                           product("nt", false, true) + product("tn", true, false) + product("tt", true, true) +
                           product("bf16", false, false, "", "bf16") + product("bf16tt", true, true, "", "bf16") +
                           product("f16", false, false, "", "f16"),
                       target);
  if (!runner.error().empty()) {
    std::fputs(runner.error().c_str(), stderr);
    return 1;
  }
  std::printf("compiled in %.3f s\n", runner.compileSeconds());
  std::vector<std::array<int64_t, 3>> sizes = {
      {512, 512, 512},   {1024, 1024, 1024}, {509, 513, 511},  {128, 1024, 1024}, {1024, 1536, 384}, {1024, 384, 1536},
      {384, 1536, 1024}, {128, 1024, 784},   {1024, 784, 128}, {1024, 1024, 128}, {16, 1024, 1024},  {64, 64, 64}};
  if (count > 4)
    sizes = {{std::atoll(arguments[2]), std::atoll(arguments[3]), std::atoll(arguments[4])}};
  for (auto [m, n, k] : sizes) {
    GuardedMemory x(m * k * 4), w((n + width - 1) / width * width * k * 4), y(m * n * 4);
    std::printf("%4ld x %4ld x %4ld", long(m), long(n), long(k));
    std::mt19937 engine(1);
    for (GuardedMemory *memory : {&x, &w})
      // Numbers of either sign between 0.5 and 2 in any element type, without denormals.
      for (uint32_t *word = memory->as<uint32_t>(), *end = word + memory->size() / 4; word < end; ++word)
        *word = (engine() & 0x80ff80ffu) | 0x3f003f00u;
    for (const char *name : {"weight", "nn", "nt", "tn", "tt", "bf16", "bf16tt", "f16"}) {
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
