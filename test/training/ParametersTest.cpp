// The trained initializers of a model, with reasons.
#include "compiler/step/Parameters.h"
#include "mlir/Parser/Parser.h"
#include "test/import/TextModel.h"

using namespace freestone::test;

namespace freestone::step {

namespace {

/// `float[2, 3] w = {…}`, with distinct elements.
std::string initializer(const std::string &type, const std::string &name, int count) {
  static int next = 0;
  std::string text = type + " " + name + " = {";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(++next);
  return text + "}";
}

class ParametersTest : public testing::Test {
protected:
  /// The parameters of a model with the input `x`, float[n, 4], and these nodes and initializers.
  void choose(const std::string &nodes, const std::vector<std::string> &initializers,
              const ParameterPatterns &patterns = {}) {
    std::string declared;
    for (const std::string &text : initializers)
      declared += (declared.empty() ? "" : ", ") + text;
    ImportOptions options;
    options.form = ModelForm::Training;
    options.keepWeights = true;
    model.reset();
    model.emplace(importText("agraph (float[n, 4] x, int64[n] i) => (float[p, q] y) <" + declared + "> {" + nodes + "}",
                             options));
    ASSERT_TRUE(model->model.module) << model->reason();
    mlir::Value loss = model->main().getBody().front().getTerminator()->getOperand(0);
    auto chosen =
        chooseParameters(model->main(), loss, model->model.initializers, *model->model.weights, patterns, unmatched);
    chose = succeeded(chosen);
    parameters = chose ? std::move(*chosen) : std::vector<Parameter>();
  }

  /// "w: factor of a contraction", prefixed by "not " if it is not trained.
  std::string tell(const std::string &name) const {
    for (const Parameter &parameter : parameters)
      if (parameter.name == name)
        return (parameter.trained ? "" : "not ") + parameter.name + ": " + parameter.reason;
    return "";
  }

  std::optional<Imported> model;
  std::vector<Parameter> parameters;
  std::string unmatched;
  bool chose = false;
};

TEST_F(ParametersTest, OperandsThatAreMadeToBeLearnt) {
  struct Case {
    std::string nodes, type;
    int count;
    std::string expected;
  };
  const Case cases[] = {
      {"y = MatMul(x, w)", "float[4, 3]", 12, "w: factor of a contraction"},
      {"y = Add(x, w)", "float[4]", 4, "w: bias"},
      {"y = Sub(x, w)", "float[4]", 4, "w: bias"},
      {"y = Mul(x, w)", "float[4]", 4, "w: scale"},
      {"y = Div(x, w)", "float[1]", 1, "w: scale"},
      {"y = Gather(w, i)", "float[5, 3]", 15, "w: table of an embedding"},
      {"a = Unsqueeze(x, one) b = Conv(a, w) y = Flatten(b)", "float[2, 1, 3]", 6, "w: kernel of a convolution"},
      {"a = Unsqueeze(x, one) b = ConvTranspose<strides = [2]>(a, w) y = Flatten(b)", "float[1, 2, 3]", 6,
       "w: kernel of a transposed convolution"},
      {"y = Max(x, w)", "float[4]", 4, "w: reaches the loss by 'y'"},
      {"y = Pow(x, w)", "float[4]", 4, "w: reaches the loss by 'y'"},
      // Comparisons, steps and integers have no gradient.
      {"c = Greater(x, w) y = Where(c, x, x)", "float[4]", 4, "not w: no gradient of the loss reaches it"},
      {"t = Floor(w) y = Mul(x, t)", "float[4]", 4, "not w: no gradient of the loss reaches it"},
      {"t = Cast<to = 7>(w) u = Cast<to = 1>(t) y = Mul(x, u)", "float[4]", 4,
       "not w: no gradient of the loss reaches it"},
      {"t = Mul(x, w) y = Identity(x)", "float[4]", 4, "not w: no gradient of the loss reaches it"},
      // Only moved before its use.
      {"t = Transpose(w) y = MatMul(x, t)", "float[3, 4]", 12, "w: factor of a contraction"},
      {"t = Identity(w) y = MatMul(x, t)", "float[4, 3]", 12, "w: factor of a contraction"},
      {"t = Reshape(w, flat) y = Add(x, t)", "float[2, 2]", 4, "w: bias"},
      {"t = Concat<axis = 1>(w, w) y = MatMul(x, t)", "float[4, 3]", 12, "w: factor of a contraction"},
      {"t = Cast<to = 1>(w) y = MatMul(x, t)", "double[4, 3]", 12, "w: factor of a contraction"},
      {"a = Identity(w) b = Reshape(a, flat) c = Identity(b) y = Mul(x, c)", "float[2, 2]", 4, "w: scale"},
      {"t = Slice(w, zero, four) y = MatMul(x, t)", "float[6, 3]", 18, "w: factor of a contraction"},
      // Used in a computation before its layer.
      {"t = Exp(w) y = MatMul(x, t)", "float[4, 3]", 12, "w: reaches the loss by 't'"},
      {"t = Tanh(w) y = Mul(t, x)", "float[4]", 4, "w: reaches the loss by 't'"},
      {"t = Softplus(w) u = Neg(t) y = Add(x, u)", "float[4]", 4, "w: reaches the loss by 't'"},
      // A scalar is a constant of the program, wherever it is; a vector of one element is trained.
      {"y = Mul(x, w)", "float", 1, ""},
      {"t = Reshape(w, one) y = Add(x, t)", "float", 1, ""},
      {"t = Identity(w) y = Add(x, t)", "float[1]", 1, "w: bias"},
      // Integers, and initializers without a use, are no parameters at all.
      {"t = Cast<to = 1>(w) y = MatMul(x, t)", "int64[4, 3]", 12, ""},
      {"y = Identity(x)", "float[4]", 4, ""},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.nodes + " with " + one.type);
    choose(one.nodes, {initializer(one.type, "w", one.count), "int64[1] one = {1}", "int64[1] flat = {-1}",
                       "int64[1] zero = {0}", "int64[1] four = {4}"});
    EXPECT_EQ(tell("w"), one.expected);
    EXPECT_EQ(tell("one") + tell("flat"), "");
  }
}

TEST_F(ParametersTest, AllPartsOfAConcatenation) {
  choose("t = Concat<axis = 0>(a, b) u = Transpose<perm = [1, 0]>(t) v = Concat<axis = 1>(u, c) y = MatMul(x, v)",
         {initializer("float[2, 4]", "a", 8), initializer("float[1, 4]", "b", 4), initializer("float[4, 2]", "c", 8)});
  for (const char *name : {"a", "b", "c"})
    EXPECT_EQ(tell(name), std::string(name) + ": factor of a contraction");
}

TEST_F(ParametersTest, TheRoleInALayerIsTheReason) {
  choose("a = Max(x, w) b = Mul(a, w) y = Min(b, w)", {initializer("float[4]", "w", 4)});
  EXPECT_EQ(tell("w"), "w: scale");
}

TEST_F(ParametersTest, MasksAreConstants) {
  choose("a = Add(x, m) b = Add(a, h) c = Add(b, k) d = Add(c, w) y = Add(d, z)",
         {"float[4] m = {0, -10000, 0, -3.4e38}", "float[4] h = {1, -1e9, 1, 1}", "float[4] k = {0, 0, 1, -1e9}",
          "float[4] w = {0, -9999, 0, 0}", "float[4] z = {0, 0, 0, 0}"});
  EXPECT_EQ(tell("m"), "not m: a mask");
  EXPECT_EQ(tell("h"), "not h: a mask");
  for (const char *name : {"k", "w", "z"})
    EXPECT_EQ(tell(name), std::string(name) + ": bias");
  for (const Parameter &parameter : parameters)
    EXPECT_EQ(parameter.couldBeTrained, parameter.name == "m" || parameter.name == "h") << parameter.name;
}

TEST_F(ParametersTest, FrequenciesOfPlacesAreConstants) {
  const std::string places =
      "a = Cast<to = 1>(i) b = Unsqueeze(a, one) c = Mul(b, w) s = Sin(c) d = Cos(c) e = Mul(x, s) ";
  auto expect = [&](const std::string &nodes, const std::string &expected) {
    choose(nodes, {initializer("float[4]", "w", 4), "int64[1] one = {1}"});
    EXPECT_EQ(tell("w"), expected) << nodes;
  };
  expect(places + "y = Add(e, d)", "not w: frequencies of places");
  expect(places + "f = Add(e, d) y = Mul(f, w)", "w: scale");
  expect("c = Mul(x, w) s = Sin(c) d = Cos(c) y = Add(s, d)", "w: scale");
}

TEST_F(ParametersTest, WhatExportersCountUpIsAConstantUnlessALayerTakesIt) {
  choose(
      R"(a = MatMul(x, "val_1") b = Add(a, "val_2") c = Add(b, "val_3") d = Mul(c, "onnx::Mul_4") y = Add(d, "layer.5"))",
      {initializer("float[4, 4]", "\"val_1\"", 16), initializer("float[4]", "\"val_2\"", 4),
       initializer("float[4]", "\"val_3\"", 4), initializer("float[4]", "\"onnx::Mul_4\"", 4),
       initializer("float[4]", "\"layer.5\"", 4)});
  EXPECT_EQ(tell("val_1"), "val_1: factor of a contraction");
  EXPECT_EQ(tell("val_2"), "val_2: bias") << "of a product";
  EXPECT_EQ(tell("val_3"), "not val_3: computed by the exporter");
  EXPECT_EQ(tell("onnx::Mul_4"), "not onnx::Mul_4: computed by the exporter");
  EXPECT_EQ(tell("layer.5"), "layer.5: bias");
  ParameterPatterns patterns;
  patterns.train = {"val_3"};
  choose(R"(y = Add(x, "val_3"))", {initializer("float[4]", "\"val_3\"", 4)}, patterns);
  EXPECT_EQ(tell("val_3"), "val_3: chosen by 'val_3'");
}

TEST_F(ParametersTest, TheExportersWordCounts) {
  using Kind = InitializerOrigin::Kind;
  choose("a = Add(x, p) b = Add(a, q) c = Add(b, k) y = Add(c, f)",
         {"float[4] p = {0, -10000, 0, 0}", initializer("float[4]", "q", 4), initializer("float[4]", "k", 4),
          initializer("float[4]", "f", 4)});
  auto &origins = model->model.initializers;
  origins["p"].kind = Kind::Parameter;
  origins["q"].kind = Kind::Buffer;
  origins["k"].kind = Kind::Constant;
  origins["f"] = {Kind::Computed, {"layer.decay"}};
  mlir::Value loss = model->main().getBody().front().getTerminator()->getOperand(0);
  parameters = *chooseParameters(model->main(), loss, origins, *model->model.weights, {}, unmatched);
  EXPECT_EQ(tell("p"), "p: bias");
  EXPECT_EQ(tell("q"), "not q: a buffer, as the exporter says");
  EXPECT_EQ(tell("k"), "not k: a constant, as the exporter says");
  EXPECT_EQ(tell("f"), "not f: computed by the exporter, of 'layer.decay'");
  for (const Parameter &parameter : parameters)
    EXPECT_EQ(parameter.couldBeTrained, parameter.name == "q" || parameter.name == "f") << parameter.name;
}

TEST_F(ParametersTest, NormalisationsKeepTheirStatistics) {
  choose("a, m1, v1 = BatchNormalization<training_mode = 1>(x, s, b, m, v) y = LayerNormalization(a, g, h)",
         {initializer("float[4]", "s", 4), initializer("float[4]", "b", 4), initializer("float[4]", "m", 4),
          initializer("float[4]", "v", 4), initializer("float[4]", "g", 4), initializer("float[4]", "h", 4)});
  EXPECT_EQ(tell("s"), "s: scale");
  EXPECT_EQ(tell("b"), "b: bias");
  EXPECT_EQ(tell("g"), "g: scale");
  EXPECT_EQ(tell("h"), "h: bias");
  for (const char *name : {"m", "v"})
    EXPECT_EQ(tell(name), "not " + std::string(name) + ": statistics of a normalisation");
}

TEST_F(ParametersTest, ALossKeepsTheWeightsOfItsClasses) {
  for (const char *loss : {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss<ignore_index = 7>"}) {
    choose(std::string("a = Mul(x, s) l = ") + loss + "(a, i, w) y = Add(x, l)",
           {initializer("float[4]", "s", 4), initializer("float[4]", "w", 4)});
    EXPECT_EQ(tell("s"), "s: scale");
    EXPECT_EQ(tell("w"), "not w: weights of a loss's classes");
  }
}

TEST_F(ParametersTest, PatternsDecideOtherwise) {
  std::vector<std::string> initializers = {initializer("float[4, 4]", "layer.0.w", 16),
                                           initializer("float[4]", "layer.0.b", 4),
                                           initializer("float[4, 4]", "layer.1.w", 16),
                                           initializer("float[4]", "limit", 4), initializer("float[1]", "factor", 1)};
  for (std::string &text : initializers)
    if (size_t at = text.find("layer"); at != std::string::npos)
      text.insert(at, "\""), text.insert(text.find(' ', at + 1), "\"");
  const std::string nodes = R"(a = MatMul(x, "layer.0.w") b = Add(a, "layer.0.b") c = MatMul(b, "layer.1.w")
      d = Max(c, limit) y = Mul(d, factor))";
  ParameterPatterns patterns;
  patterns.train = {"limit", "layer.1.*"};
  patterns.freeze = {"layer.?.w"};
  patterns.noDecay = {"*.b"};
  patterns.groups = {"*.b", "layer.*"};
  choose(nodes, initializers, patterns);
  ASSERT_TRUE(chose) << unmatched;
  EXPECT_EQ(tell("layer.0.w"), "not layer.0.w: frozen by 'layer.?.w'");
  EXPECT_EQ(tell("layer.1.w"), "not layer.1.w: frozen by 'layer.?.w'");
  EXPECT_EQ(tell("layer.0.b"), "layer.0.b: bias");
  EXPECT_EQ(tell("limit"), "limit: chosen by 'limit'");
  EXPECT_EQ(tell("factor"), "factor: scale");
  for (const Parameter &parameter : parameters) {
    EXPECT_EQ(parameter.decays, parameter.name != "layer.0.b") << parameter.name;
    std::string group = parameter.name == "layer.0.b" ? "*.b" : parameter.name.starts_with("layer") ? "layer.*" : "";
    EXPECT_EQ(parameter.group, group) << parameter.name;
  }
  for (auto list : {&ParameterPatterns::train, &ParameterPatterns::freeze, &ParameterPatterns::noDecay,
                    &ParameterPatterns::groups}) {
    patterns = {};
    (patterns.*list) = {"*", "encoder.*"};
    choose(nodes, initializers, patterns);
    EXPECT_FALSE(chose);
    EXPECT_EQ(unmatched, "encoder.*");
  }
}

TEST_F(ParametersTest, ASingleNumberIsTrainedOnlyWhereItIsChosen) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  graph::registerGraphDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: !graph.tensor<[n], f32>) -> !graph.tensor<[n], f32> {
      %w = graph.weight "w" : !graph.tensor<[], f32>
      %0 = graph.broadcast %w dims [] : !graph.tensor<[], f32> -> !graph.tensor<[n], f32>
      %1 = graph.binary mul %x, %0 : !graph.tensor<[n], f32>
      return %1 : !graph.tensor<[n], f32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Value loss = function.getBody().front().getTerminator()->getOperand(0);
  WeightStore weights;
  for (bool isChosen : {false, true}) {
    ParameterPatterns patterns;
    if (isChosen)
      patterns.train = {"w"};
    parameters = *chooseParameters(function, loss, {{"w", {}}}, weights, patterns, unmatched);
    EXPECT_EQ(tell("w"), isChosen ? "w: chosen by 'w'" : "not w: a single number");
    EXPECT_EQ(parameters.front().couldBeTrained, !isChosen);
  }
  parameters = *chooseParameters(function, loss, {{"w", {InitializerOrigin::Kind::Parameter}}}, weights, {}, unmatched);
  EXPECT_EQ(tell("w"), "w: scale") << "the exporter calls it a parameter";
  EXPECT_TRUE(chooseParameters(function, loss, {}, weights, {}, unmatched)->empty())
      << "only initializers of the model are parameters";
}

} // namespace

} // namespace freestone::step
