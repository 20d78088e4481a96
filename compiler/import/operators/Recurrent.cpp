// Recurrent networks: the products of all inputs at once, then a scan of them.
#include "compiler/expressions/Scan.h"
#include "compiler/import/Registry.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// An activation with the parameters that it has, which others leave out.
struct Activation {
  Tensor (*apply)(Tensor x, double alpha, double beta);
  double alpha = 0, beta = 0;
  unsigned parameters = 0;
};

/// With the defaults of its parameters; nothing for other names.
std::optional<Activation> activationOf(StringRef name) {
  using Known = std::optional<Activation>;
  return StringSwitch<Known>(name.lower())
      .Case("tanh", Activation{[](Tensor x, double, double) { return tanh(x); }})
      .Case("sigmoid", Activation{[](Tensor x, double, double) { return sigmoid(x); }})
      .Case("relu", Activation{[](Tensor x, double, double) { return relu(x); }})
      .Case("softsign", Activation{[](Tensor x, double, double) { return x / (1.0 + abs(x)); }})
      .Case("softplus", Activation{[](Tensor x, double, double) { return relu(x) + log1p(exp(-abs(x))); }})
      .Case("affine", Activation{[](Tensor x, double a, double b) { return x * a + b; }, 1, 0, 2})
      .Case("scaledtanh", Activation{[](Tensor x, double a, double b) { return tanh(x * b) * a; }, 1, 1, 2})
      .Case("hardsigmoid", Activation{[](Tensor x, double a, double b) { return clamp(x * a + b, 0, 1); }, 0.2, 0.5, 2})
      .Case("leakyrelu", Activation{[](Tensor x, double a, double) { return select(x < 0.0, x * a, x); }, 0.01, 0, 1})
      .Case("elu", Activation{[](Tensor x, double a, double) { return select(x < 0.0, expm1(x) * a, x); }, 1, 0, 1})
      .Case("thresholdedrelu", Activation{[](Tensor x, double a, double) { return select(x > a, x, 0.0); }, 1, 0, 1})
      .Default(std::nullopt);
}

/// One direction of a network: its weights [gates * hidden, …], its biases [gates * hidden], null where there are none.
struct Direction {
  Tensor w, r, inputBias, stateBias, peepholes;
  Expr hidden;
  std::optional<double> clip;
  SmallVector<Activation> activations;
  bool isReversed = false;

  Tensor apply(int64_t index, Tensor x) const {
    const Activation &activation = activations[index];
    return activation.apply(x, activation.alpha, activation.beta);
  }
  Tensor activate(int64_t index, Tensor x) const { return apply(index, clip ? clamp(x, -*clip, *clip) : x); }
  /// Gate `index` of a tensor that has all along its last axis.
  Tensor gate(Tensor x, int64_t index) const { return slice(x, -1, hidden * index, hidden); }
  Tensor stateTimesWeights(Tensor h) const { return withBias(matmul(h, transpose(r, {1, 0})), stateBias); }
  static Tensor withBias(Tensor x, Tensor bias) { return bias ? x + bias : x; }
};

/// [batch, hidden] each; only LSTM has c.
struct State {
  Tensor h, c;
};

/// The state after one step; x is its input times W, with its bias, [batch, gates * hidden].
using Step = function_ref<State(const Direction &direction, Tensor x, State before)>;

ArrayRef<float> parametersOf(Node &node, StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  return attribute ? ArrayRef<float>(attribute->floats().data(), attribute->floats_size()) : ArrayRef<float>();
}

bool readActivations(Node &node, int64_t directions, ArrayRef<StringRef> defaults,
                     SmallVectorImpl<Activation> &activations) {
  SmallVector<StringRef> names;
  if (const onnx::AttributeProto *given = node.attribute("activations"))
    names.append(given->strings().begin(), given->strings().end());
  else
    for (int64_t direction = 0; direction < directions; ++direction)
      names.append(defaults.begin(), defaults.end());
  if (names.size() != directions * defaults.size()) {
    node.reject("there must be " + Twine(defaults.size()) + " activations for each direction");
    return false;
  }
  // Parameters are given for those that have any, in order.
  ArrayRef<float> alphas = parametersOf(node, "activation_alpha"), betas = parametersOf(node, "activation_beta");
  for (StringRef name : names) {
    std::optional<Activation> activation = activationOf(name);
    if (!activation) {
      node.refuse("the activation '" + name + "' is not supported");
      return false;
    }
    if (activation->parameters > 0 && !alphas.empty())
      activation->alpha = alphas.consume_front();
    if (activation->parameters > 1 && !betas.empty())
      activation->beta = betas.consume_front();
    activations.push_back(*activation);
  }
  return true;
}

/// Element `index` of the first axis, without that axis; null for null.
Tensor pick(Tensor x, int64_t index) {
  return x ? squeeze(slice(x, 0, x.builder().size(index), x.builder().size(1)), {0}) : x;
}

/// In the opposite order along the first axis.
Tensor reversed(Tensor x) { return slice(x, 0, x.dim(0) - 1, x.dim(0), -1); }

/// Of one direction: the states shown, [steps, batch, hidden], and the last one.
struct Shown {
  Tensor all;
  State last;
};

/// What is shown after a step: sequences that end before `time`, a scalar, show zeros, and keep their state.
State endSequences(Tensor lengths, Tensor time, State before, State &after) {
  if (!lengths)
    return after;
  Tensor isInside = unsqueeze(lengths > cast(time, lengths.elementType()), {1});
  State shown = {select(isInside, after.h, 0.0), {}};
  after = {select(isInside, after.h, before.h), after.c ? select(isInside, after.c, before.c) : Tensor()};
  return shown;
}

/// Runs along products of the inputs, [steps, batch, gates * hidden].
Shown runAlong(ModelBuilder &builder, const Direction &direction, Tensor products, Tensor lengths, State state,
               Step step) {
  Expr steps = products.dim(0);
  Tensor times = iota(builder, {steps}, 0, builder.getI64Type());
  if (direction.isReversed) {
    products = reversed(products);
    times = reversed(times);
  }
  bool hasCells = bool(state.c);
  SmallVector<Tensor> carried = {state.h}, scanned = {products};
  if (hasCells)
    carried.push_back(state.c);
  if (lengths)
    scanned.push_back(times);
  std::vector<Tensor> results = scan(builder, carried, scanned, [&](ArrayRef<Tensor> arguments) {
    State before = {arguments[0], hasCells ? arguments[1] : Tensor()};
    State after = step(direction, arguments[carried.size()], before);
    State shown = endSequences(lengths, arguments.back(), before, after);
    std::vector<Tensor> next = {after.h};
    if (hasCells)
      next.push_back(after.c);
    next.push_back(shown.h);
    return next;
  });
  if (results.empty())
    return {};
  Tensor all = results.back();
  return {direction.isReversed ? reversed(all) : all, {results[0], hasCells ? results[1] : Tensor()}};
}

/// Inputs that every recurrent operator has, x as [steps, batch, input].
void recur(Node &node, int64_t gates, bool hasCells, ArrayRef<StringRef> defaults, Step step) {
  Tensor x = node.input(0), w = node.input(1), r = node.input(2);
  if (!x || !w || !r)
    return;
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) {
    node.reject("the input and its weights must have three dimensions");
    return;
  }
  auto hasType = [&](Tensor tensor) { return !tensor || tensor.elementType() == x.elementType(); };
  bool haveOneType = hasType(w) && hasType(r);
  for (int64_t input : {3, 5, 6, 7})
    haveOneType &= hasType(node.optionalInput(input));
  if (!x.isFloat() || !haveOneType) {
    node.reject("the input, its weights, biases and first states must be floats of one type");
    return;
  }
  ModelBuilder &builder = node.builder();
  bool isBatchFirst = node.integer("layout") != 0;
  auto sequenceFirst = [&](Tensor state) { return isBatchFirst && state ? transpose(state, {1, 0, 2}) : state; };
  x = sequenceFirst(x);
  if (!x)
    return;
  std::string way = node.text("direction", "forward");
  int64_t directions = way == "bidirectional" ? 2 : 1;
  Expr batch = x.dim(1), hidden = r.dim(2), rows = hidden * gates, count = builder.size(directions);
  SmallVector<Activation> activations;
  w = conform(w, {count, rows, x.dim(2)}, "sizes of the weights");
  r = conform(r, {count, rows, hidden}, "sizes of the recurrent weights");
  if (!w || !r || !readActivations(node, directions, defaults, activations))
    return;
  bool areConform = true;
  auto optional = [&](int64_t input, ArrayRef<Expr> shape, const Twine &what) {
    Tensor given = node.optionalInput(input), conformed = conform(given, shape, what);
    areConform &= bool(given) == bool(conformed);
    return conformed;
  };
  Tensor lengths = optional(4, {batch}, "sizes of the lengths");
  SmallVector<Expr> ofState = {count, batch, hidden};
  if (isBatchFirst)
    std::swap(ofState[0], ofState[1]);
  Tensor bias = optional(3, {count, rows * 2}, "sizes of the biases");
  Tensor firstH = sequenceFirst(optional(5, ofState, "sizes of the first state"));
  Tensor firstC = sequenceFirst(optional(6, ofState, "sizes of the first cells"));
  Tensor peepholes = optional(7, {count, hidden * 3}, "sizes of the peepholes");
  if (!areConform)
    return;

  SmallVector<Tensor> all, lastH, lastC;
  for (int64_t index = 0; index < directions; ++index) {
    Direction direction;
    direction.w = pick(w, index);
    direction.r = pick(r, index);
    direction.hidden = hidden;
    if (bias) {
      direction.inputBias = slice(pick(bias, index), 0, builder.size(0), rows);
      direction.stateBias = slice(pick(bias, index), 0, rows, rows);
    }
    direction.peepholes = pick(peepholes, index);
    if (node.hasAttribute("clip"))
      direction.clip = node.real("clip", 0);
    direction.activations.append(activations.begin() + index * defaults.size(),
                                 activations.begin() + (index + 1) * defaults.size());
    direction.isReversed = index == 1 || way == "reverse";

    Tensor zeros = builder.splat(0, x.elementType(), {batch, hidden});
    State state = {firstH ? pick(firstH, index) : zeros, !hasCells ? Tensor() : firstC ? pick(firstC, index) : zeros};
    Tensor products = Direction::withBias(matmul(x, transpose(direction.w, {1, 0})), direction.inputBias);
    Shown shown = runAlong(builder, direction, products, lengths, state, step);
    if (!shown.all) {
      if (!builder.stopped())
        node.reject("its first states have other sizes than its results");
      return;
    }
    all.push_back(unsqueeze(shown.all, {1}));
    lastH.push_back(unsqueeze(shown.last.h, {0}));
    lastC.push_back(unsqueeze(shown.last.c, {0}));
  }
  Tensor y = concat(all, 1);
  node.setOutput(0, isBatchFirst ? transpose(y, {2, 0, 1, 3}) : y);
  node.setOutput(1, sequenceFirst(concat(lastH, 0)));
  if (node.wants(2))
    node.setOutput(2, sequenceFirst(concat(lastC, 0)));
}

void rnn(Node &node) {
  recur(node, 1, /*hasCells=*/false, {"Tanh"}, [](const Direction &direction, Tensor x, State before) -> State {
    return {direction.activate(0, x + direction.stateTimesWeights(before.h)), {}};
  });
}

/// Gates: update, reset, hidden.
void gru(Node &node) {
  bool resetsProduct = node.integer("linear_before_reset") != 0;
  recur(node, 3, /*hasCells=*/false, {"Sigmoid", "Tanh"},
        [&](const Direction &direction, Tensor x, State before) -> State {
          Tensor h = direction.stateTimesWeights(before.h);
          Tensor update = direction.activate(0, direction.gate(x, 0) + direction.gate(h, 0));
          Tensor reset = direction.activate(0, direction.gate(x, 1) + direction.gate(h, 1));
          Tensor candidate = reset * direction.gate(h, 2);
          if (!resetsProduct) {
            Tensor weights = slice(direction.r, 0, direction.hidden * 2, direction.hidden);
            candidate = matmul(reset * before.h, transpose(weights, {1, 0}));
            if (direction.stateBias)
              candidate = candidate + direction.gate(direction.stateBias, 2);
          }
          candidate = direction.activate(1, direction.gate(x, 2) + candidate);
          return {(1.0 - update) * candidate + update * before.h, {}};
        });
}

/// Gates: input, output, forget, cell; peepholes: input, output, forget.
void lstm(Node &node) {
  bool isCoupled = node.integer("input_forget") != 0;
  recur(node, 4, /*hasCells=*/true, {"Sigmoid", "Tanh", "Tanh"},
        [&](const Direction &direction, Tensor x, State before) -> State {
          Tensor gates = x + direction.stateTimesWeights(before.h);
          auto gate = [&](int64_t index, Tensor cell) {
            Tensor value = direction.gate(gates, index);
            if (direction.peepholes)
              value = value + direction.gate(direction.peepholes, index) * cell;
            return direction.activate(0, value);
          };
          Tensor input = gate(0, before.c);
          Tensor forget = isCoupled ? 1.0 - input : gate(2, before.c);
          Tensor cell = forget * before.c + input * direction.activate(1, direction.gate(gates, 3));
          return {gate(1, cell) * direction.apply(2, cell), cell};
        });
}

} // namespace

void registerRecurrent(Registry &registry) {
  registry.addMany("RNN", {7}, rnn);
  registry.addMany("GRU", {7}, gru);
  registry.addMany("LSTM", {7}, lstm);
}

} // namespace freestone::importer
