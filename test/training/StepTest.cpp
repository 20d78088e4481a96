// The guards of a step's states, checked in its program.
#include "compiler/step/TrainingStep.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace freestone::step {

namespace {

/// A layer with a bias, and a statistic that training updates.
constexpr const char *model = R"(
func.func @main(%x: !graph.tensor<[b, 4], f32> {graph.name = "x"}) -> (!graph.tensor<[b, 3], f32> {graph.name = "logits"},
    !graph.tensor<[4], f32> {graph.state = "largest"}) attributes {graph.statistics = ["largest"]} {
  %w = graph.weight "w" : !graph.tensor<[4, 3], f32>
  %bias = graph.weight "bias" : !graph.tensor<[3], f32>
  %old = graph.weight "largest" : !graph.tensor<[4], f32>
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 3], f32>
  %1 = graph.broadcast %bias dims [1] : !graph.tensor<[3], f32> -> !graph.tensor<[b, 3], f32>
  %2 = graph.binary add %0, %1 : !graph.tensor<[b, 3], f32>
  %3 = graph.reduce max %x axes [0] : !graph.tensor<[b, 4], f32>
  %4 = graph.binary max %old, %3 : !graph.tensor<[4], f32>
  return %2, %4 : !graph.tensor<[b, 3], f32>, !graph.tensor<[4], f32>
}
func.func @evaluate(%x: !graph.tensor<[b, 4], f32> {graph.name = "x"}) -> (!graph.tensor<[b, 3], f32> {graph.name = "logits"}) {
  %w = graph.weight "w" : !graph.tensor<[4, 3], f32>
  %0 = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[b, 4], f32>, !graph.tensor<[4, 3], f32>
  return %0 : !graph.tensor<[b, 3], f32>
})";

class StepTest : public testing::Test {
protected:
  StepTest() {
    DialectRegistry registry;
    graph::registerGraphDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Builds a step of the model; a test failure otherwise.
  void build(const StepChoice &choice) {
    module = parseSourceString<ModuleOp>(model, &context);
    WeightStore weights;
    step = module->lookupSymbol<func::FuncOp>("main");
    StepFunctions functions{step, {}, module->lookupSymbol<func::FuncOp>("evaluate")};
    if (choice.accumulate) {
      functions.accumulate = accumulate = step.clone();
      accumulate.setSymName("accumulate");
      module->push_back(accumulate);
    }
    std::string error;
    Value logits = step.getBody().front().getTerminator()->getOperand(0);
    FailureOr<std::vector<Parameter>> parameters =
        chooseParameters(step, logits, {{"w", {}}, {"bias", {}}, {"largest", {}}}, weights, {}, error);
    ASSERT_TRUE(succeeded(parameters));
    ASSERT_TRUE(succeeded(buildTrainingStep(functions, choice, *parameters, weights, error))) << error;
    ASSERT_TRUE(succeeded(verify(*module)));
  }

  static Value findArgument(func::FuncOp function, StringRef name) {
    for (BlockArgument argument : function.getArguments())
      if (auto state = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.state");
          state && state == name)
        return argument;
    return {};
  }
  static Value findResult(func::FuncOp function, StringRef attribute, StringRef name) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto given = function.getResultAttrOfType<StringAttr>(i, attribute); given && given == name)
        return function.getBody().front().getTerminator()->getOperand(i);
    return {};
  }
  static std::vector<std::string> getUpdated(func::FuncOp function) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto state = function.getResultAttrOfType<StringAttr>(i, "graph.state"))
        names.push_back(state.str());
    return names;
  }
  /// The value before broadcasts.
  static Value getSource(Value value) {
    while (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
      value = broadcast.getOperand();
    return value;
  }

  /// The condition of the selection between a state's old and new value; null if there is no selection.
  static Value getGuard(func::FuncOp function, StringRef name) {
    auto select = findResult(function, "graph.state", name).getDefiningOp<graph::SelectOp>();
    return select && getSource(select.getOnTrue()) == findArgument(function, name) ? getSource(select.getCondition())
                                                                                   : Value();
  }

  /// Guards may be used in selections and combined with others, but never converted to a factor.
  static void expectOnlyChooses(Value guard) {
    for (OpOperand &use : guard.getUses()) {
      Operation *user = use.getOwner();
      if (isa<graph::BroadcastOp>(user)) {
        expectOnlyChooses(user->getResult(0));
        continue;
      }
      bool chooses = isa<graph::SelectOp>(user) && use.getOperandNumber() == 0;
      auto binary = dyn_cast<graph::BinaryOp>(user);
      EXPECT_TRUE(chooses || isa<func::ReturnOp>(user) || (binary && binary.getKind() == graph::BinaryKind::or_))
          << user->getName().getStringRef().str();
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp step, accumulate;
};

TEST_F(StepTest, SelectsGuardEveryState) {
  using grad::OptimizerKind;
  for (OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Adagrad,
                             OptimizerKind::RmsProp, OptimizerKind::Lamb, OptimizerKind::Lion})
    for (bool isNarrow : {false, true})
      for (bool accumulates : {false, true}) {
        SCOPED_TRACE(grad::getName(kind).str());
        StepChoice choice;
        grad::Optimizer &optimizer = choice.optimizer.builtIn;
        optimizer = grad::Optimizer::withDefaults(kind);
        optimizer.momentum = 0.9;
        optimizer.amsgrad = optimizer.centered = true;
        choice.accumulate = accumulates;
        if (isNarrow) {
          choice.precision = Float16Type::get(&context);
          choice.optimizer.moments = BFloat16Type::get(&context);
          choice.scaleLoss = true;
        }
        build(choice);
        Value skipped = findResult(step, "graph.name", "skipped");
        ASSERT_TRUE(skipped);
        expectOnlyChooses(skipped);
        std::vector<std::string> updated = getUpdated(step);
        for (const char *name : {"w", "bias", "largest", "optimizer/step"})
          EXPECT_TRUE(llvm::is_contained(updated, name)) << name;
        EXPECT_GE(updated.size(), 6u);
        for (StringRef name : updated) {
          // A skipped step changes the scale, and resets the accumulated gradients.
          if (name == "loss_scale" || name == "growth_tracker")
            continue;
          if (name.starts_with("accumulated/"))
            EXPECT_TRUE(findResult(step, "graph.state", name).getDefiningOp<graph::ConstantOp>()) << name.str();
          else
            EXPECT_EQ(getGuard(step, name), skipped) << name.str();
        }
        if (!accumulates)
          continue;
        EXPECT_TRUE(getGuard(accumulate, "largest"));
        expectOnlyChooses(getGuard(accumulate, "largest"));
        EXPECT_FALSE(llvm::is_contained(getUpdated(accumulate), "w"));
      }
}

TEST_F(StepTest, EarlyUpdatesWaitForTheirOwnGradientsAlone) {
  StepChoice choice;
  choice.optimizer.builtIn = grad::Optimizer::withDefaults(grad::OptimizerKind::AdamW);
  choice.updatesEarly = true;
  build(choice);
  Value skipped = findResult(step, "graph.name", "skipped");
  for (const char *name : {"largest", "optimizer/step"})
    EXPECT_EQ(getGuard(step, name), skipped) << name;
  Value ofWeights = getGuard(step, "w"), ofBias = getGuard(step, "bias");
  ASSERT_TRUE(ofWeights && ofBias);
  EXPECT_NE(ofWeights, ofBias);
  for (const char *moment : {"optimizer/exp_avg/", "optimizer/exp_avg_sq/"}) {
    EXPECT_EQ(getGuard(step, std::string(moment) + "w"), ofWeights) << moment;
    EXPECT_EQ(getGuard(step, std::string(moment) + "bias"), ofBias) << moment;
  }
  for (Value guard : {ofWeights, ofBias})
    expectOnlyChooses(guard);
  // The update of the parameter whose gradient is known first precedes the gradient of the other.
  Operation *first = findResult(step, "graph.state", "bias").getDefiningOp(), *second = ofWeights.getDefiningOp();
  if (!first->isBeforeInBlock(second))
    std::tie(first, second) = std::pair(findResult(step, "graph.state", "w").getDefiningOp(), ofBias.getDefiningOp());
  EXPECT_TRUE(first->isBeforeInBlock(second));
}

TEST_F(StepTest, Precision) {
  StepChoice choice;
  choice.precision = BFloat16Type::get(&context);
  build(choice);
  int64_t products = 0;
  for (auto contract : step.getOps<graph::ContractOp>()) {
    EXPECT_TRUE(graph::getElementType(contract.getLhs()).isBF16() && graph::getElementType(contract.getRhs()).isBF16());
    ++products;
  }
  EXPECT_EQ(products, 2);
  EXPECT_TRUE(graph::getElementType(findArgument(step, "w")).isF32());
  module->lookupSymbol<func::FuncOp>("evaluate").walk([](graph::ContractOp contract) {
    EXPECT_TRUE(graph::getElementType(contract.getLhs()).isF32());
  });
}

} // namespace

} // namespace freestone::step
