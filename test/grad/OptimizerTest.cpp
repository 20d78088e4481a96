#include "compiler/grad/Optimizers.h"
#include "test/grad/GradientCheck.h"
#include "test/grad/Reference.h"
#include <cmath>

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

class OptimizerTest : public GradientCheck {
protected:
  static constexpr int64_t elements = 5, steps = 5;

  static Optimizer make(OptimizerKind kind, llvm::function_ref<void(Optimizer &)> change = [](Optimizer &) {}) {
    Optimizer optimizer = Optimizer::withDefaults(kind);
    change(optimizer);
    return optimizer;
  }

  HostTensor firstParameter() {
    std::vector<double> values;
    for (int64_t i = 0; i < elements; ++i)
      values.push_back(std::cos(2.0 * i + 1.0));
    return f64({elements}, values);
  }
  HostTensor gradientAt(int64_t step) {
    std::vector<double> values;
    for (int64_t i = 0; i < elements; ++i)
      values.push_back(std::sin(i + 1.0 + 3.0 * step) * (step + 1.0));
    return f64({elements}, values);
  }

  /// The parameter, then its states.
  std::vector<HostTensor> start(const Optimizer &optimizer) {
    std::vector<HostTensor> tensors = {firstParameter()};
    for (const StateTensor &state : getStateTensors(optimizer))
      tensors.push_back(f64({elements}, std::vector<double>(elements, state.initial)));
    return tensors;
  }

  /// One step. `type` is that of parameter and state.
  std::vector<HostTensor> step(const Optimizer &optimizer, ArrayRef<HostTensor> before, const HostTensor &gradient,
                               double rate, int64_t number, std::optional<bool> skip = std::nullopt,
                               const std::string &type = "f64") {
    std::vector<std::string> signature = {"[], f64", "[], i64", "[n], " + type};
    std::vector<HostTensor> inputs = {f64({}, {rate}), i64({}, {number}), gradient};
    if (skip) {
      signature.push_back("[], i1");
      inputs.push_back(i1({}, {*skip}));
    }
    size_t first = inputs.size();
    for (const HostTensor &tensor : before) {
      signature.push_back("[n], " + type);
      inputs.push_back(tensor);
    }
    auto build = [&](OpBuilder &builder, ValueRange arguments) {
      SmallVector<Value> state(arguments.drop_front(first + 1));
      StepValues values{arguments[0], arguments[1], skip ? arguments[3] : Value()};
      Update update =
          buildUpdate(builder, builder.getUnknownLoc(), optimizer, arguments[first], arguments[2], state, values);
      SmallVector<Value> results = {update.parameter};
      llvm::append_range(results, update.state);
      return results;
    };
    return runBuilt(signature, build, inputs);
  }

  void expectReference(const std::string &name, const Optimizer &optimizer) {
    SCOPED_TRACE(name);
    std::vector<HostTensor> tensors = start(optimizer);
    const auto &expected = reference::optimizers.at(name);
    for (int64_t i = 0; i < steps; ++i) {
      tensors = step(optimizer, tensors, gradientAt(i), 0.1 / (i + 1.0), i + 1);
      expectNear(tensors.front(), expected[i], 1e-12);
    }
  }
};

TEST_F(OptimizerTest, Sgd) {
  expectReference("sgd", make(OptimizerKind::Sgd));
  expectReference("sgdDecay", make(OptimizerKind::Sgd, [](Optimizer &o) { o.weightDecay = 0.1; }));
  expectReference("sgdMomentum", make(OptimizerKind::Sgd, [](Optimizer &o) { o.momentum = 0.9; }));
  expectReference("sgdDampened", make(OptimizerKind::Sgd, [](Optimizer &o) {
                    o.momentum = 0.9;
                    o.dampening = 0.3;
                    o.weightDecay = 0.1;
                  }));
  expectReference("sgdNesterov", make(OptimizerKind::Sgd, [](Optimizer &o) {
                    o.momentum = 0.9;
                    o.nesterov = true;
                  }));
}

TEST_F(OptimizerTest, Adam) {
  expectReference("adam", make(OptimizerKind::Adam));
  expectReference("adamDecay", make(OptimizerKind::Adam, [](Optimizer &o) {
                    o.weightDecay = 0.1;
                    o.beta1 = 0.8;
                    o.beta2 = 0.95;
                    o.eps = 1e-3;
                  }));
  expectReference("amsgrad", make(OptimizerKind::Adam, [](Optimizer &o) {
                    o.amsgrad = true;
                    o.beta2 = 0.5;
                  }));
  expectReference("adamw", make(OptimizerKind::AdamW));
  expectReference("adamwAmsgrad", make(OptimizerKind::AdamW, [](Optimizer &o) {
                    o.amsgrad = true;
                    o.beta2 = 0.5;
                    o.weightDecay = 0.3;
                  }));
}

TEST_F(OptimizerTest, Adagrad) {
  expectReference("adagrad", make(OptimizerKind::Adagrad));
  expectReference("adagradDecay", make(OptimizerKind::Adagrad, [](Optimizer &o) {
                    o.lrDecay = 0.2;
                    o.weightDecay = 0.1;
                    o.initialAccumulator = 0.5;
                  }));
}

TEST_F(OptimizerTest, RmsProp) {
  expectReference("rmsprop", make(OptimizerKind::RmsProp));
  expectReference("rmspropCentered", make(OptimizerKind::RmsProp, [](Optimizer &o) {
                    o.centered = true;
                    o.momentum = 0.9;
                    o.alpha = 0.8;
                    o.weightDecay = 0.1;
                  }));
  expectReference("rmspropMomentum", make(OptimizerKind::RmsProp, [](Optimizer &o) { o.momentum = 0.9; }));
}

TEST_F(OptimizerTest, LambAndLion) {
  expectReference("lamb", make(OptimizerKind::Lamb));
  expectReference("lion", make(OptimizerKind::Lion, [](Optimizer &o) { o.weightDecay = 0.1; }));
}

/// Hyperparameters as values of the program give the same results as compiled-in ones.
TEST_F(OptimizerTest, HyperparametersAsValues) {
  std::vector<HostTensor> before = start(make(OptimizerKind::AdamW)),
                          inputs = {f64({}, {0.1}), i64({}, {3}), gradientAt(2)};
  for (double number : {0.8, 0.95, 1e-3, 0.3})
    inputs.push_back(f64({}, {number}));
  llvm::append_range(inputs, before);
  std::vector<std::string> signature = {"[], f64", "[], i64", "[n], f64", "[], f64",  "[], f64",
                                        "[], f64", "[], f64", "[n], f64", "[n], f64", "[n], f64"};
  std::vector<HostTensor> dynamic = runBuilt(
      signature,
      [](OpBuilder &builder, ValueRange a) {
        Optimizer optimizer = make(OptimizerKind::AdamW, [&](Optimizer &o) {
          o.beta1 = a[3];
          o.beta2 = a[4];
          o.eps = a[5];
          o.weightDecay = a[6];
        });
        Update update =
            buildUpdate(builder, builder.getUnknownLoc(), optimizer, a[7], a[2], {a[8], a[9]}, {a[0], a[1], {}});
        return SmallVector<Value>{update.parameter, update.state[0], update.state[1]};
      },
      inputs);
  std::vector<HostTensor> fixed = step(make(OptimizerKind::AdamW,
                                            [](Optimizer &o) {
                                              o.beta1 = 0.8;
                                              o.beta2 = 0.95;
                                              o.eps = 1e-3;
                                              o.weightDecay = 0.3;
                                            }),
                                       before, gradientAt(2), 0.1, 3);
  for (auto [left, right] : llvm::zip_equal(dynamic, fixed))
    expectNear(left, reals(right), 1e-14);
}

/// A skipped step keeps every bit, whatever the gradient is; a step that is not skipped is as without the choice.
TEST_F(OptimizerTest, Skip) {
  for (OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Adagrad,
                             OptimizerKind::RmsProp, OptimizerKind::Lamb, OptimizerKind::Lion}) {
    SCOPED_TRACE(getName(kind).str());
    Optimizer optimizer = make(kind, [](Optimizer &o) {
      o.momentum = 0.9;
      o.amsgrad = o.centered = true;
      o.weightDecay = 0.1;
    });
    std::vector<HostTensor> before = step(optimizer, start(optimizer), gradientAt(0), 0.1, 1);
    for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
      for (int64_t place : {int64_t(0), elements - 1}) {
        HostTensor gradient = gradientAt(1);
        reinterpret_cast<double *>(gradient.bytes.data())[place] = bad;
        // Including step 0, whose bias corrections divide by 0.
        for (int64_t number : {0, 2}) {
          std::vector<HostTensor> after = step(optimizer, before, gradient, 0.1, number, true);
          for (auto [left, right] : llvm::zip_equal(before, after))
            EXPECT_EQ(left.bytes, right.bytes);
        }
      }
    std::vector<HostTensor> taken = step(optimizer, before, gradientAt(1), 0.1, 2, false);
    std::vector<HostTensor> plain = step(optimizer, before, gradientAt(1), 0.1, 2);
    for (auto [left, right] : llvm::zip_equal(taken, plain))
      EXPECT_EQ(left.bytes, right.bytes);
  }
}

/// Narrow tensors are widened for the computation, and stay narrow.
TEST_F(OptimizerTest, NarrowState) {
  Optimizer optimizer = make(OptimizerKind::AdamW);
  std::vector<HostTensor> after =
      runBuilt({"[n], f32", "[n], bf16", "[n], bf16", "[n], bf16", "[], f32", "[], i64"},
               [&](OpBuilder &builder, ValueRange a) {
                 Update update = buildUpdate(builder, builder.getUnknownLoc(), optimizer, a[0], a[1], {a[2], a[3]},
                                             {a[4], a[5], {}});
                 return SmallVector<Value>{update.parameter, update.state[0]};
               },
               {f32({2}, {1, 1}), HostTensor::allocate(BFloat16Type::get(&context), {2}),
                HostTensor::allocate(BFloat16Type::get(&context), {2}),
                HostTensor::allocate(BFloat16Type::get(&context), {2}), f32({}, {0.5}), i64({}, {1})});
  expectNear(after[0], {0.995, 0.995});
  EXPECT_TRUE(after[1].elementType.isBF16());
}

/// Second moments in bf16 follow those in f64, although they change by a thousandth in a step: rounded to nearest, they
/// would not change at all.
TEST_F(OptimizerTest, SlowState) {
  constexpr int64_t count = 96, steps = 900;
  Optimizer optimizer = make(OptimizerKind::Adam);
  HostTensor parameter = f32({count}, std::vector<float>(count)), first = f32({count}, std::vector<float>(count));
  HostTensor second = HostTensor::allocate(BFloat16Type::get(&context), {count});
  double expected = 0;
  for (int64_t number = 1; number <= steps; ++number) {
    double gradient = number <= 300 ? 1 : 0.1;
    std::vector<HostTensor> after = runBuilt(
        {"[n], f32", "[n], f32", "[n], f32", "[n], bf16", "[], f32", "[], i64"},
        [&](OpBuilder &builder, ValueRange a) {
          Update update =
              buildUpdate(builder, builder.getUnknownLoc(), optimizer, a[0], a[1], {a[2], a[3]}, {a[4], a[5], {}});
          return SmallVector<Value>{update.state[1]};
        },
        {parameter, f32({count}, std::vector<float>(count, gradient)), first, second, f32({}, {0}), i64({}, {number})});
    second = after.front();
    expected = expected * 0.999 + gradient * gradient * 0.001;
  }
  double sum = 0;
  for (double value : reals(second)) {
    EXPECT_NEAR(value / expected, 1, 0.05);
    sum += value;
  }
  EXPECT_NEAR(sum / count / expected, 1, 0.01);
}

TEST_F(OptimizerTest, Steps) {
  auto run = [&](int64_t done, bool skip) {
    return runBuilt({"[], i64", "[], i1"},
                    [](OpBuilder &builder, ValueRange a) {
                      Location location = builder.getUnknownLoc();
                      return SmallVector<Value>{buildStepNumber(builder, location, a[0]),
                                                buildStepsDone(builder, location, a[0], a[1])};
                    },
                    {i64({}, {done}), i1({}, {skip})});
  };
  EXPECT_EQ(integers(run(4, false)[0]).front(), 5);
  EXPECT_EQ(integers(run(4, false)[1]).front(), 5);
  EXPECT_EQ(integers(run(4, true)[1]).front(), 4);
}

TEST_F(OptimizerTest, Names) {
  for (const char *name : {"sgd", "adam", "adamw", "adagrad", "rmsprop", "lamb", "lion"})
    EXPECT_EQ(getName(*getOptimizerKind(name)), name);
  EXPECT_FALSE(getOptimizerKind("adamax"));
  EXPECT_FALSE(getOptimizer("adamax"));
  EXPECT_TRUE(getOptimizer("amsgrad")->kind == OptimizerKind::Adam && getOptimizer("amsgrad")->amsgrad);
  EXPECT_FALSE(getOptimizer("adam")->amsgrad);
  EXPECT_TRUE(getStateTensors(make(OptimizerKind::Sgd)).empty());
  EXPECT_EQ(getStateTensors(make(OptimizerKind::Adam)).size(), 2u);
}

} // namespace

} // namespace freestone::grad
