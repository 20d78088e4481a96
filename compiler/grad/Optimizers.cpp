#include "compiler/grad/Optimizers.h"
#include "compiler/expressions/Expressions.h"
#include <array>
#include <numbers>

using namespace mlir;

namespace freestone::grad {

using namespace expressions;

namespace {

struct KindName {
  OptimizerKind kind;
  StringRef name;
};
constexpr std::array<KindName, 7> kindNames = {{{OptimizerKind::Sgd, "sgd"},
                                                {OptimizerKind::Adam, "adam"},
                                                {OptimizerKind::AdamW, "adamw"},
                                                {OptimizerKind::Adagrad, "adagrad"},
                                                {OptimizerKind::RmsProp, "rmsprop"},
                                                {OptimizerKind::Lamb, "lamb"},
                                                {OptimizerKind::Lion, "lion"}}};

/// One step of one parameter, in f32 at least. Factors common to all elements are computed in f64, since 1 - 0.999^t
/// loses half of f32's digits.
class Step {
public:
  Step(GraphBuilder &builder, const Optimizer &optimizer, Tensor parameter, Tensor gradient, SmallVector<Tensor> state,
       const StepValues &values)
      : builder(builder), optimizer(optimizer), p(parameter), g(gradient), state(std::move(state)),
        rate(scalar(values.learningRate)), step(scalar(values.step)) {}

  Tensor run() {
    switch (optimizer.kind) {
    case OptimizerKind::Sgd:
      return runSgd();
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
      return runAdam(optimizer.kind == OptimizerKind::AdamW);
    case OptimizerKind::Adagrad:
      return runAdagrad();
    case OptimizerKind::RmsProp:
      return runRmsProp();
    case OptimizerKind::Lamb:
      return runLamb();
    case OptimizerKind::Lion:
      return runLion();
    }
    llvm_unreachable("an optimizer without a case");
  }
  ArrayRef<Tensor> getState() const { return state; }

private:
  Tensor scalar(Value value) { return cast(Tensor(builder, value), builder.getF64Type()); }
  Tensor scalar(const Number &number) {
    if (std::optional<double> constant = number.getConstant())
      return builder.scalar(*constant, builder.getF64Type());
    return scalar(number.getValue());
  }
  Tensor rest(const Number &number) {
    std::optional<double> constant = number.getConstant();
    return constant ? scalar(Number(1 - *constant)) : 1.0 - scalar(number);
  }
  /// A scalar in the type of the elements.
  Tensor common(Tensor factor) { return cast(factor, p.elementType()); }
  Tensor common(const Number &number) { return common(scalar(number)); }

  Tensor decayed(Tensor gradient) {
    return optimizer.weightDecay.isConstant(0) ? gradient : gradient + p * common(optimizer.weightDecay);
  }
  /// The parameter after decoupled weight decay.
  Tensor shrunk() {
    return optimizer.weightDecay.isConstant(0) ? p : p * common(1.0 - rate * scalar(optimizer.weightDecay));
  }
  /// A running mean.
  Tensor blend(Tensor mean, Tensor x, const Number &decay) { return mean + (x - mean) * common(rest(decay)); }
  Tensor blendSquares(Tensor mean, Tensor x, const Number &decay) {
    return mean * common(decay) + x * x * common(rest(decay));
  }
  /// 1 - decay^t.
  Tensor correction(const Number &decay) { return 1.0 - pow(scalar(decay), step); }

  Tensor runSgd() {
    Tensor update = decayed(g);
    if (!state.empty()) {
      Tensor momentum = common(optimizer.momentum), buffer = state[0] * momentum;
      if (optimizer.dampening.isConstant(0))
        buffer = buffer + update;
      else // the first step is not dampened
        buffer = select(step <= 1.0, update, buffer + update * common(rest(optimizer.dampening)));
      state[0] = buffer;
      update = optimizer.nesterov ? update + buffer * momentum : buffer;
    }
    return p - update * common(rate);
  }

  Tensor runAdam(bool isDecoupled) {
    Tensor gradient = isDecoupled ? g : decayed(g), before = isDecoupled ? shrunk() : p;
    Tensor first = state[0] = blend(state[0], gradient, optimizer.beta1);
    Tensor second = state[1] = blendSquares(state[1], gradient, optimizer.beta2);
    if (optimizer.amsgrad)
      second = state[2] = max(state[2], second);
    Tensor root = sqrt(second) * common(rsqrt(correction(optimizer.beta2)));
    return before - first / (root + common(optimizer.eps)) * common(rate / correction(optimizer.beta1));
  }

  Tensor runAdagrad() {
    Tensor gradient = decayed(g);
    Tensor total = state[0] = state[0] + gradient * gradient;
    Tensor slowed = rate;
    if (!optimizer.lrDecay.isConstant(0))
      slowed = rate / ((step - 1.0) * scalar(optimizer.lrDecay) + 1.0);
    return p - gradient / (sqrt(total) + common(optimizer.eps)) * common(slowed);
  }

  Tensor runRmsProp() {
    unsigned next = 1;
    Tensor gradient = decayed(g);
    Tensor square = state[0] = blendSquares(state[0], gradient, optimizer.alpha);
    if (optimizer.centered) {
      Tensor mean = state[next] = blend(state[next], gradient, optimizer.alpha);
      square = square - mean * mean;
      ++next;
    }
    Tensor update = gradient / (sqrt(square) + common(optimizer.eps));
    if (next < state.size())
      update = state[next] = state[next] * common(optimizer.momentum) + update;
    return p - update * common(rate);
  }

  /// You et al., Large Batch Optimization for Deep Learning: Training BERT in 76 minutes (arXiv:1904.00962), algorithm
  /// 2, with the norm itself as its function φ; a norm of 0 leaves the step as it is.
  Tensor runLamb() {
    Tensor first = state[0] = blend(state[0], g, optimizer.beta1);
    Tensor second = state[1] = blendSquares(state[1], g, optimizer.beta2);
    Tensor root = sqrt(second) * common(rsqrt(correction(optimizer.beta2)));
    Tensor update = first * common(1.0 / correction(optimizer.beta1)) / (root + common(optimizer.eps));
    update = decayed(update);
    Tensor norm = sqrt(sum(p * p)), length = sqrt(sum(update * update));
    Tensor trust = select((norm > 0.0) & (length > 0.0), norm / length, 1.0);
    return p - update * (trust * common(rate));
  }

  /// Chen et al., Symbolic Discovery of Optimization Algorithms (arXiv:2302.06675), algorithm 2.
  Tensor runLion() {
    Tensor direction = sign(blend(state[0], g, optimizer.beta1));
    state[0] = blend(state[0], g, optimizer.beta2);
    return shrunk() - direction * common(rate);
  }

  GraphBuilder &builder;
  const Optimizer &optimizer;
  Tensor p, g;
  SmallVector<Tensor> state;
  Tensor rate, step;
};

/// Adds, to non-negative elements, up to half of bf16's last digit, a different amount in each step: multiples of the
/// golden ratio, modulo 1, cover an interval evenly.
Tensor dither(Tensor x, Value step) {
  constexpr double golden = 2654435769, strides[] = {2246822519, 3266489917, 668265263, 374761393};
  GraphBuilder &builder = x.builder();
  Type word = IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned);
  Tensor phase = cast(Tensor(builder, step), word) * golden;
  phase = broadcast(phase, x.shape(), {});
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    phase = phase + iota(builder, x.shape(), axis, word) * strides[axis % std::size(strides)];
  Tensor digit = exp2(floor(log(x) * std::numbers::log2e) - 7.0);
  return x + (cast(phase, x.elementType()) * 0x1p-32 - 0.5) * digit;
}

} // namespace

Optimizer Optimizer::withDefaults(OptimizerKind kind) {
  Optimizer optimizer;
  optimizer.kind = kind;
  switch (kind) {
  case OptimizerKind::AdamW:
    optimizer.weightDecay = 0.01;
    break;
  case OptimizerKind::Adagrad:
    optimizer.eps = 1e-10;
    break;
  case OptimizerKind::Lamb:
    optimizer.eps = 1e-6;
    optimizer.weightDecay = 0.01;
    break;
  case OptimizerKind::Lion:
    optimizer.beta2 = 0.99;
    break;
  default:
    break;
  }
  return optimizer;
}

SmallVector<NamedNumber> getNumbers(OptimizerKind kind) {
  NamedNumber momentum{"momentum", &Optimizer::momentum}, dampening{"dampening", &Optimizer::dampening};
  NamedNumber beta1{"beta1", &Optimizer::beta1}, beta2{"beta2", &Optimizer::beta2}, alpha{"alpha", &Optimizer::alpha};
  NamedNumber eps{"eps", &Optimizer::eps}, decay{"weight_decay", &Optimizer::weightDecay};
  switch (kind) {
  case OptimizerKind::Sgd:
    return {momentum, dampening, decay};
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW:
  case OptimizerKind::Lamb:
    return {beta1, beta2, eps, decay};
  case OptimizerKind::Adagrad:
    return {{"lr_decay", &Optimizer::lrDecay}, eps, decay};
  case OptimizerKind::RmsProp:
    return {alpha, momentum, eps, decay};
  case OptimizerKind::Lion:
    return {beta1, beta2, decay};
  }
  llvm_unreachable("all kinds are above");
}

double getDefaultLearningRate(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::Adagrad:
  case OptimizerKind::RmsProp:
    return 0.01;
  case OptimizerKind::Lion:
    return 1e-4;
  default:
    return 1e-3;
  }
}

std::optional<OptimizerKind> getOptimizerKind(StringRef name) {
  for (const KindName &known : kindNames)
    if (known.name == name)
      return known.kind;
  return std::nullopt;
}

StringRef getName(OptimizerKind kind) { return kindNames[static_cast<unsigned>(kind)].name; }

std::optional<Optimizer> getOptimizer(StringRef name) {
  bool isAmsgrad = name == "amsgrad";
  std::optional<OptimizerKind> kind = isAmsgrad ? OptimizerKind::Adam : getOptimizerKind(name);
  if (!kind)
    return std::nullopt;
  Optimizer optimizer = Optimizer::withDefaults(*kind);
  optimizer.amsgrad = isAmsgrad;
  return optimizer;
}

SmallVector<StateTensor> getStateTensors(const Optimizer &optimizer) {
  StateTensor first{"exp_avg", 0, /*isMoment=*/true}, second{"exp_avg_sq", 0, /*isMoment=*/true, /*isSlow=*/true};
  SmallVector<StateTensor> tensors;
  bool hasMomentum = !optimizer.momentum.isConstant(0);
  switch (optimizer.kind) {
  case OptimizerKind::Sgd:
    if (hasMomentum)
      tensors.push_back({"momentum_buffer"});
    return tensors;
  case OptimizerKind::Adam:
  case OptimizerKind::AdamW:
    tensors = {first, second};
    if (optimizer.amsgrad)
      tensors.push_back({"max_exp_avg_sq", 0, /*isMoment=*/true});
    return tensors;
  case OptimizerKind::Adagrad:
    return {{"sum", optimizer.initialAccumulator}};
  case OptimizerKind::RmsProp:
    tensors.push_back({"square_avg"});
    if (optimizer.centered)
      tensors.push_back({"grad_avg"});
    if (hasMomentum)
      tensors.push_back({"momentum_buffer"});
    return tensors;
  case OptimizerKind::Lamb:
    return {first, second};
  case OptimizerKind::Lion:
    return {first};
  }
  llvm_unreachable("an optimizer without a case");
}

Update buildUpdate(OpBuilder &opBuilder, Location location, const Optimizer &optimizer, Value parameter, Value gradient,
                   ArrayRef<Value> stateValues, const StepValues &values) {
  GraphBuilder builder(location, opBuilder);
  Tensor p = widen(Tensor(builder, parameter));
  auto widenedAs = [&](Value value) { return cast(Tensor(builder, value), p.elementType()); };
  SmallVector<Tensor> state = llvm::map_to_vector(stateValues, widenedAs);
  Step step(builder, optimizer, p, widenedAs(gradient), std::move(state), values);
  Tensor updated = step.run();
  // Selected in the stored type, so that a skipped step keeps every bit.
  auto keep = [&](Value before, Tensor after, bool isSlow) {
    Type type = graph::getElementType(before);
    Tensor narrowed = cast(isSlow && type.isBF16() ? dither(after, values.step) : after, type);
    if (values.skip)
      narrowed = select(Tensor(builder, values.skip), Tensor(builder, before), narrowed);
    return narrowed.value();
  };
  Update update{keep(parameter, updated, false), {}};
  for (auto [tensor, before, after] : llvm::zip_equal(getStateTensors(optimizer), stateValues, step.getState()))
    update.state.push_back(keep(before, after, tensor.isSlow));
  return update;
}

Value buildStepNumber(OpBuilder &opBuilder, Location location, Value stepsDone) {
  GraphBuilder builder(location, opBuilder);
  return (Tensor(builder, stepsDone) + 1.0).value();
}

Value buildStepsDone(OpBuilder &opBuilder, Location location, Value stepsDone, Value skip) {
  GraphBuilder builder(location, opBuilder);
  Tensor done(builder, stepsDone);
  return (skip ? select(Tensor(builder, skip), done, done + 1.0) : done + 1.0).value();
}

} // namespace freestone::grad
