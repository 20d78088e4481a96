// Gradients through the whole compiler: each program is compiled once and run at several sizes.
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Losses.h"
#include "test/grad/GradientCheck.h"
#include "test/grad/RunCompiled.h"
#include <cmath>

using namespace mlir;
using namespace freestone::interpreter;

namespace freestone::grad {

namespace {

class CompiledGradient : public GradientCheck {
protected:
  static Floats draw(const std::vector<int64_t> &dims, int seed) {
    Floats floats{dims, {}};
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    for (int64_t i = 0; i < count; ++i)
      floats.elements.push_back(static_cast<float>(std::sin(1.3 * static_cast<double>(i) + seed)) * 0.5f);
    return floats;
  }
  void addWeight(const std::string &name, const std::vector<int64_t> &dims) {
    Floats floats = draw(dims, static_cast<int>(stored.size()) + 5);
    auto *begin = reinterpret_cast<const char *>(floats.elements.data());
    weights.addOwned(name, Float32Type::get(&context), dims, {begin, begin + floats.elements.size() * sizeof(float)});
    stored[name] = floats;
  }

  /// Compares the loss of the predictions, the only result, by `build` and its gradients with respect to all inputs and
  /// weights with those of the interpreter. `dims` are the inputs' sizes of each run.
  void compare(StringRef text, llvm::function_ref<Loss(OpBuilder &, Value)> build,
               const std::vector<std::vector<std::vector<int64_t>>> &dims) {
    auto module = parse(text);
    auto function = module->lookupSymbol<func::FuncOp>("main");
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder builder(end);
    SmallVector<Value> wanted(function.getArguments());
    for (auto weight : function.getOps<graph::WeightOp>())
      wanted.push_back(weight);
    SmallVector<Value> results = {buildMean(builder, end->getLoc(), build(builder, end->getOperand(0)))};
    auto gradients = differentiate(results[0], wanted);
    ASSERT_TRUE(succeeded(gradients));
    llvm::append_range(results, *gradients);
    end->setOperands(results);
    SmallVector<Type> types = llvm::map_to_vector(results, [](Value result) { return result.getType(); });
    function.setType(FunctionType::get(&context, function.getArgumentTypes(), types));
    for (unsigned i = 0; i < types.size(); ++i)
      function.setResultAttr(i, "graph.name", builder.getStringAttr("result" + std::to_string(i)));
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, "graph.name", builder.getStringAttr("input" + std::to_string(i)));

    std::vector<std::vector<Floats>> runs;
    for (const auto &run : dims)
      for (auto &inputs = runs.emplace_back(); const auto &sizes : run)
        inputs.push_back(draw(sizes, static_cast<int>(inputs.size())));
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    auto compiled = runCompiled(printed, stored, runs);
    ASSERT_EQ(compiled.size(), runs.size());
    for (size_t run = 0; run < runs.size(); ++run) {
      std::vector<HostTensor> inputs;
      for (const Floats &floats : runs[run])
        inputs.push_back(f32(floats.dims, floats.elements));
      auto expected = interpret(function, inputs, weights, true);
      ASSERT_TRUE(succeeded(expected));
      ASSERT_EQ(compiled[run].size(), expected->size());
      for (size_t result = 0; result < expected->size(); ++result)
        expectClose(compiled[run][result], reals((*expected)[result]),
                    "run " + std::to_string(run) + ", result " + std::to_string(result));
    }
  }

private:
  static void expectClose(const std::vector<float> &actual, const std::vector<double> &expected,
                          const std::string &where) {
    ASSERT_EQ(actual.size(), expected.size()) << where;
    double largest = 1e-3;
    for (double value : expected)
      largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 2e-5 * largest) << where << ", element " << i;
  }

  std::map<std::string, Floats> stored;
};

/// A constant target that differs from every element.
Loss toSquares(OpBuilder &builder, Value predictions) {
  Value zeros =
      graph::ConstantOp::create(builder, predictions.getLoc(), cast<graph::TensorType>(predictions.getType()), 0.25);
  return buildMeanSquaredError(builder, predictions.getLoc(), predictions, zeros);
}

/// Labels by number of the row.
Loss toClasses(OpBuilder &builder, Value predictions) {
  auto type = cast<graph::TensorType>(predictions.getType());
  auto labelType = graph::TensorType::get({type.getDim(0)}, builder.getI64Type());
  Value rows = graph::IotaOp::create(builder, predictions.getLoc(), labelType, 0);
  Value classes = graph::ConstantOp::create(builder, predictions.getLoc(), labelType, 7);
  Value labels = graph::BinaryOp::create(builder, predictions.getLoc(), graph::BinaryKind::mod, rows, classes);
  return buildSoftmaxCrossEntropy(builder, predictions.getLoc(), predictions, labels);
}

TEST_F(CompiledGradient, Perceptron) {
  addWeight("w1", {20, 33});
  addWeight("b1", {33});
  addWeight("w2", {33, 10});
  compare(R"((%x: !graph.tensor<[b, 20], f32>) -> !graph.tensor<[b, 10], f32> {
    %w1 = graph.weight "w1" : !graph.tensor<[20, 33], f32>
    %b1 = graph.weight "b1" : !graph.tensor<[33], f32>
    %w2 = graph.weight "w2" : !graph.tensor<[33, 10], f32>
    %0 = graph.contract %x, %w1 batch [] x [] contract [1] x [0] : !graph.tensor<[b, 20], f32>, !graph.tensor<[20, 33], f32>
    %1 = graph.broadcast %b1 dims [1] : !graph.tensor<[33], f32> -> !graph.tensor<[b, 33], f32>
    %2 = graph.binary add %0, %1 : !graph.tensor<[b, 33], f32>
    %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[b, 33], f32>
    %3 = graph.binary max %2, %zero : !graph.tensor<[b, 33], f32>
    %4 = graph.contract %3, %w2 batch [] x [] contract [1] x [0] : !graph.tensor<[b, 33], f32>, !graph.tensor<[33, 10], f32>
    return %4 : !graph.tensor<[b, 10], f32>
  })",
          toClasses, {{{7, 20}}, {{1, 20}}, {{64, 20}}});
}

TEST_F(CompiledGradient, Convolutions) {
  addWeight("w1", {6, 3, 3, 3});
  addWeight("w2", {6, 1, 3, 3});
  addWeight("w3", {8, 3, 2, 2});
  compare(R"((%x: !graph.tensor<[n, 3, h, 14], f32>) -> !graph.tensor<[n, 8], f32> {
    %w1 = graph.weight "w1" : !graph.tensor<[6, 3, 3, 3], f32>
    %w2 = graph.weight "w2" : !graph.tensor<[6, 1, 3, 3], f32>
    %w3 = graph.weight "w3" : !graph.tensor<[8, 3, 2, 2], f32>
    %0 = graph.convolve %x, %w1 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
         : !graph.tensor<[n, 3, h, 14], f32>, !graph.tensor<[6, 3, 3, 3], f32>
    %zero = graph.constant dense<0.0> : tensor<f32> -> !graph.tensor<[n, 6, h, 14], f32>
    %1 = graph.binary max %0, %zero : !graph.tensor<[n, 6, h, 14], f32>
    %2 = graph.convolve %1, %w2 strides [2, 2] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 6
         : !graph.tensor<[n, 6, h, 14], f32>, !graph.tensor<[6, 1, 3, 3], f32>
    %3 = graph.window max %2 sizes [2, 2] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0]
         : !graph.tensor<[n, 6, (h - 1) floordiv 2 + 1, 7], f32>
    %4 = graph.convolve %3, %w3 strides [1, 1] dilations [1, 2] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 2
         : !graph.tensor<[n, 6, (h - 1) floordiv 2, 6], f32>, !graph.tensor<[8, 3, 2, 2], f32>
    %5 = graph.window add %4 sizes [1, 2] strides [1, 2] dilations [1, 1] low [0, 0] high [0, 0]
         : !graph.tensor<[n, 8, (h - 1) floordiv 2 - 1, 4], f32>
    %6 = graph.reduce add %5 axes [2, 3] : !graph.tensor<[n, 8, (h - 1) floordiv 2 - 1, 2], f32>
    return %6 : !graph.tensor<[n, 8], f32>
  })",
          toClasses, {{{2, 3, 14, 14}}, {{1, 3, 9, 14}}, {{5, 3, 8, 14}}});
}

TEST_F(CompiledGradient, PooledSideBySide) {
  addWeight("w1", {5, 1, 3, 3});
  compare(R"((%x: !graph.tensor<[n, 1, 8, w], f32>) -> !graph.tensor<[n, 5], f32> {
    %w1 = graph.weight "w1" : !graph.tensor<[5, 1, 3, 3], f32>
    %0 = graph.convolve %x, %w1 strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 1
         : !graph.tensor<[n, 1, 8, w], f32>, !graph.tensor<[5, 1, 3, 3], f32>
    %1 = graph.window max %0 sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0]
         : !graph.tensor<[n, 5, 8, w], f32>
    %2 = graph.reduce add %1 axes [2, 3] : !graph.tensor<[n, 5, 4, w floordiv 2], f32>
    return %2 : !graph.tensor<[n, 5], f32>
  })",
          toClasses, {{{3, 1, 8, 8}}, {{1, 1, 8, 3}}, {{2, 1, 8, 11}}});
}

TEST_F(CompiledGradient, Transformer) {
  addWeight("table", {11, 16});
  addWeight("q", {16, 16});
  addWeight("k", {16, 16});
  addWeight("v", {16, 16});
  compare(R"((%t: !graph.tensor<[b, s], f32>) -> !graph.tensor<[b*s, 11], f32> {
    %table = graph.weight "table" : !graph.tensor<[11, 16], f32>
    %wq = graph.weight "q" : !graph.tensor<[16, 16], f32>
    %wk = graph.weight "k" : !graph.tensor<[16, 16], f32>
    %wv = graph.weight "v" : !graph.tensor<[16, 16], f32>
    %ten = graph.constant dense<10.0> : tensor<f32> -> !graph.tensor<[b, s], f32>
    %positive = graph.unary abs %t : !graph.tensor<[b, s], f32>
    %scaled = graph.binary mul %positive, %ten : !graph.tensor<[b, s], f32>
    %tokens = graph.cast %scaled to i64 : !graph.tensor<[b, s], f32>
    %e = graph.gather %table, %tokens axis 0 batch_dims 0 : !graph.tensor<[11, 16], f32>, !graph.tensor<[b, s], i64>
    %n = graph.layer_norm %e axis 2 epsilon 1.0e-5 : !graph.tensor<[b, s, 16], f32>
    %q = graph.contract %n, %wq batch [] x [] contract [2] x [0] : !graph.tensor<[b, s, 16], f32>, !graph.tensor<[16, 16], f32>
    %k = graph.contract %n, %wk batch [] x [] contract [2] x [0] : !graph.tensor<[b, s, 16], f32>, !graph.tensor<[16, 16], f32>
    %v = graph.contract %n, %wv batch [] x [] contract [2] x [0] : !graph.tensor<[b, s, 16], f32>, !graph.tensor<[16, 16], f32>
    %a = graph.attention %q, %k, %v scale 0.25 causal <0>
         : !graph.tensor<[b, s, 16], f32>, !graph.tensor<[b, s, 16], f32>, !graph.tensor<[b, s, 16], f32>
    %g = graph.gelu tanh %a : !graph.tensor<[b, s, 16], f32>
    %r = graph.binary add %g, %e : !graph.tensor<[b, s, 16], f32>
    %m = graph.rms_norm %r axis 2 epsilon 1.0e-5 : !graph.tensor<[b, s, 16], f32>
    %y = graph.contract %m, %table batch [] x [] contract [2] x [1] : !graph.tensor<[b, s, 16], f32>, !graph.tensor<[11, 16], f32>
    %z = graph.reshape %y : !graph.tensor<[b, s, 11], f32> -> !graph.tensor<[b*s, 11], f32>
    return %z : !graph.tensor<[b*s, 11], f32>
  })",
          toClasses, {{{2, 5}}, {{1, 1}}, {{3, 32}}});
}

TEST_F(CompiledGradient, Rearranging) {
  compare(R"((%x: !graph.tensor<[m, n], f32>, %v: !graph.tensor<[], f32>) -> !graph.tensor<[n + m], f32> {
    %s = graph.slice %x starts [0, n - 1] sizes [m, n] steps [1, -1] : !graph.tensor<[m, n], f32>
    %p = graph.pad %s, %v low [1, 0] high [0, 2] interior [0, 1] : !graph.tensor<[m, n], f32>, !graph.tensor<[], f32>
    %r = graph.reduce max %p axes [1] : !graph.tensor<[m + 1, max(2*n - 1, 0) + 2], f32>
    %cut = graph.slice %r starts [1] sizes [m] steps [1] : !graph.tensor<[m + 1], f32>
    %t = graph.transpose %x [1, 0] : !graph.tensor<[m, n], f32>
    %c = graph.cumulate add %t axis 0 : !graph.tensor<[n, m], f32>
    %top, %i = graph.top_k %c axis 0 k <n> : !graph.tensor<[n, m], f32>
    %q = graph.reduce mul %top axes [1] : !graph.tensor<[n, m], f32>
    %z = graph.concat %q, %cut axis 0 : !graph.tensor<[n], f32>, !graph.tensor<[m], f32>
    return %z : !graph.tensor<[n + m], f32>
  })",
          toSquares, {{{3, 5}, {}}, {{1, 1}, {}}, {{2, 17}, {}}});
}

} // namespace

} // namespace freestone::grad
