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

/// The schedule of the reference, over drawn sequences of overflows: torch.amp.GradScaler.update.
TEST_F(GradientScalingTest, Schedule) {
  std::mt19937 random(5);
  LossScaleOptions options;
  options.growthInterval = 3;
  float expectedScale = static_cast<float>(options.initialScale);
  int32_t expectedTracker = 0;
  HostTensor scale = f32({}, {expectedScale}),
             tracker = HostTensor::copy<int32_t>(IntegerType::get(&context, 32), {}, {0});
  for (int i = 0; i < 400; ++i) {
    bool overflowed = random() % 5 == 0;
    std::vector<HostTensor> after =
        runBuilt({"[], f32", "[], i32", "[], i1"},
                 [&](OpBuilder &builder, ValueRange a) {
                   LossScale next = buildLossScaleUpdate(builder, builder.getUnknownLoc(), {a[0], a[1]}, a[2], options);
                   return SmallVector<Value>{next.scale, next.growthTracker};
                 },
                 {scale, tracker, i1({}, {overflowed})});
    scale = after[0];
    tracker = after[1];
    if (overflowed) {
      expectedScale *= 0.5f;
      expectedTracker = 0;
    } else if (++expectedTracker == 3) {
      if (std::isfinite(expectedScale * 2))
        expectedScale *= 2;
      expectedTracker = 0;
    }
    ASSERT_EQ(scale.elements<float>().front(), expectedScale) << i;
    ASSERT_EQ(tracker.elements<int32_t>().front(), expectedTracker) << i;
  }
}

} // namespace

} // namespace freestone::grad
