#include "compiler/grad/GradientScaling.h"
#include "test/grad/GradientCheck.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

using GradientScalingTest = GradientCheck;

TEST_F(GradientScalingTest, NonFinite) {
  auto check = [&](std::vector<double> a, double b) {
    return integers(runBuilt({"[n], f64", "[], f64"},
                             [](OpBuilder &builder, ValueRange arguments) {
                               return SmallVector<Value>{
                                   buildAnyNonFinite(builder, builder.getUnknownLoc(), SmallVector<Value>(arguments))};
                             },
                             {f64({3}, a), f64({}, {b})})
                        .front())
        .front();
  };
  EXPECT_EQ(check({1e308, -1e308, 0}, 1), 0);
  EXPECT_EQ(check({1, 2, std::nan("")}, 1), 1);
  EXPECT_EQ(check({HUGE_VAL, 2, 3}, 1), 1);
  EXPECT_EQ(check({1, 2, 3}, -HUGE_VAL), 1);
}

TEST_F(GradientScalingTest, Clipping) {
  auto run = [&](double maxNorm) {
    return runBuilt({"[n], f64", "[], f64", "[], f64"},
                    [](OpBuilder &builder, ValueRange a) {
                      Location location = builder.getUnknownLoc();
                      Value norm = buildGlobalNorm(builder, location, {a[0], a[1]}),
                            factor = buildClipFactor(builder, location, norm, a[2]);
                      return SmallVector<Value>{norm, buildScaled(builder, location, a[0], factor)};
                    },
                    {f64({2}, {3, 4}), f64({}, {12}), f64({}, {maxNorm})});
  };
  expectNear(run(1)[0], {13});
  // torch.nn.utils.clip_grad_norm_ divides by the norm plus 1e-6.
  expectNear(run(1)[1], {3 / 13.000001, 4 / 13.000001}, 1e-12);
  expectNear(run(100)[1], {3, 4}, 0);
}

/// torch.amp.GradScaler.update: the reference's kernel `amp_update_scale_`, for one number at a time.
struct ReferenceScaler {
  double growthFactor, backoffFactor;
  int32_t growthInterval;
  float scale = 65536;
  int32_t tracker = 0;

  void update(bool overflowed) {
    if (overflowed) {
      scale = static_cast<float>(scale * backoffFactor);
      tracker = 0;
      return;
    }
    int32_t successes = tracker + 1;
    if (successes != growthInterval) {
      tracker = successes;
      return;
    }
    auto grown = static_cast<float>(scale * growthFactor);
    if (std::isfinite(grown))
      scale = grown;
    tracker = 0;
  }
};

/// The schedule is elementwise: 10,000 sequences of overflows run as columns of one tensor, and equal the reference in
/// every step.
TEST_F(GradientScalingTest, Schedule) {
  constexpr int64_t sequences = 10000, steps = 60;
  struct Case {
    double growth, backoff;
    int32_t interval;
    unsigned overflowOneIn;
  };
  // The second case reaches infinity, where the scale stays; the third has factors that are rounded.
  for (const Case &numbers : {Case{2, 0.5, 3, 5}, Case{1e4, 0.5, 1, 50}, Case{1.1, 0.7, 2, 4}}) {
    std::mt19937 random(5);
    LossScaleOptions options;
    options.growthFactor = numbers.growth;
    options.backoffFactor = numbers.backoff;
    options.growthInterval = static_cast<double>(numbers.interval);
    std::vector<ReferenceScaler> expected(sequences, {numbers.growth, numbers.backoff, numbers.interval});
    HostTensor scale = f32({sequences}, std::vector<float>(sequences, 65536)),
               tracker = HostTensor::copy<int32_t>(IntegerType::get(&context, 32), {sequences},
                                                   std::vector<int32_t>(sequences, 0));
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<uint8_t> overflowed(sequences);
      for (int64_t i = 0; i < sequences; ++i) {
        overflowed[i] = random() % numbers.overflowOneIn == 0;
        expected[i].update(overflowed[i]);
      }
      std::vector<HostTensor> after = runBuilt({"[n], f32", "[n], i32", "[n], i1"},
                                               [&](OpBuilder &builder, ValueRange a) {
                                                 LossScale next = buildLossScaleUpdate(builder, builder.getUnknownLoc(),
                                                                                       {a[0], a[1]}, a[2], options);
                                                 return SmallVector<Value>{next.scale, next.growthTracker};
                                               },
                                               {scale, tracker, i1({sequences}, overflowed)});
      scale = after[0];
      tracker = after[1];
      for (int64_t i = 0; i < sequences; ++i) {
        ASSERT_EQ(scale.elements<float>()[i], expected[i].scale) << "step " << step << ", sequence " << i;
        ASSERT_EQ(tracker.elements<int32_t>()[i], expected[i].tracker) << "step " << step << ", sequence " << i;
      }
    }
  }
}

} // namespace

} // namespace freestone::grad
