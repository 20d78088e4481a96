#include "test/interpreter/RunText.h"
#include <ctime>

namespace freestone::interpreter {
namespace {

using SpeedTest = RunText;

/// CPU time of this process in seconds, so that other load is not counted.
static double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A block of a transformer at 1 x 1,000 tokens, d = 384, 6 heads: the tests evaluate six of them.
TEST_F(SpeedTest, TransformerBlock) {
  double start = now();
  auto results =
      runMain(R"((%x: !graph.tensor<[s, 384], f32>, %w: !graph.tensor<[384, 1152], f32>,
                             %u: !graph.tensor<[384, 1536], f32>, %d: !graph.tensor<[1536, 384], f32>) -> !graph.tensor<[s, 384], f32> {
    %n = graph.layer_norm %x axis 1 epsilon 1.0e-5 : !graph.tensor<[s, 384], f32>
    %a = graph.contract %n, %w batch [] x [] contract [1] x [0] : !graph.tensor<[s, 384], f32>, !graph.tensor<[384, 1152], f32>
    %b = graph.reshape %a : !graph.tensor<[s, 1152], f32> -> !graph.tensor<[s, 3, 6, 64], f32>
    %c = graph.transpose %b [1, 2, 0, 3] : !graph.tensor<[s, 3, 6, 64], f32>
    %q0 = graph.slice %c starts [0, 0, 0, 0] sizes [1, 6, s, 64] steps [1, 1, 1, 1] : !graph.tensor<[3, 6, s, 64], f32>
    %k0 = graph.slice %c starts [1, 0, 0, 0] sizes [1, 6, s, 64] steps [1, 1, 1, 1] : !graph.tensor<[3, 6, s, 64], f32>
    %v0 = graph.slice %c starts [2, 0, 0, 0] sizes [1, 6, s, 64] steps [1, 1, 1, 1] : !graph.tensor<[3, 6, s, 64], f32>
    %y = graph.attention %q0, %k0, %v0 scale 0.125 causal <0> : !graph.tensor<[1, 6, s, 64], f32>,
         !graph.tensor<[1, 6, s, 64], f32>, !graph.tensor<[1, 6, s, 64], f32>
    %z = graph.transpose %y [0, 2, 1, 3] : !graph.tensor<[1, 6, s, 64], f32>
    %r = graph.reshape %z : !graph.tensor<[1, s, 6, 64], f32> -> !graph.tensor<[s, 384], f32>
    %t = graph.binary add %x, %r : !graph.tensor<[s, 384], f32>
    %f = graph.contract %t, %u batch [] x [] contract [1] x [0] : !graph.tensor<[s, 384], f32>, !graph.tensor<[384, 1536], f32>
    %g = graph.gelu exact %f : !graph.tensor<[s, 1536], f32>
    %h = graph.contract %g, %d batch [] x [] contract [1] x [0] : !graph.tensor<[s, 1536], f32>, !graph.tensor<[1536, 384], f32>
    %o = graph.binary add %t, %h : !graph.tensor<[s, 384], f32>
    return %o : !graph.tensor<[s, 384], f32>
  })",
              {random({1000, 384}, 1), random({384, 1152}, 2), random({384, 1536}, 3), random({1536, 384}, 4)});
  ASSERT_EQ(results.size(), 1u);
  double seconds = now() - start;
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 10) << "six blocks and more are evaluated per test";
}

} // namespace
} // namespace freestone::interpreter
