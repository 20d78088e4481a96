// What plans say of work that goes element by element is what the emitters do.
#include "compiler/driver/ScalarWork.h"

#include "compiler/codegen/cpu/Passes.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/driver/Pipelines.h"
#include "compiler/driver/Registration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

namespace {

struct Model {
  const char *name;
  /// Its text, in which %y is returned, of the type below.
  const char *arguments, *body, *type;
  /// Operations that go element by element, in percent of all.
  int64_t scalar;
};

const Model models[] = {
    {"elementwise", "%x: !graph.tensor<[64, 1024], f32>", "%y = graph.unary tanh %x : !graph.tensor<[64, 1024], f32>",
     "!graph.tensor<[64, 1024], f32>", 0},
    {"transpose", "%x: !graph.tensor<[64, 48], f32>", "%y = graph.transpose %x [1, 0] : !graph.tensor<[64, 48], f32>",
     "!graph.tensor<[48, 64], f32>", 0},
    {"product", "%x: !graph.tensor<[64, 128], f32>, %w: !graph.tensor<[128, 256], f32>",
     "%y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[64, 128], f32>, "
     "!graph.tensor<[128, 256], f32>",
     "!graph.tensor<[64, 256], f32>", 0},
    {"rows", "%x: !graph.tensor<[64, 1024], f32>", "%y = graph.reduce add %x axes [1] : !graph.tensor<[64, 1024], f32>",
     "!graph.tensor<[64], f32>", 0},
    {"sort", "%x: !graph.tensor<[16, 1000], f32>",
     "%y, %i = graph.sort %x axis 1 descending : !graph.tensor<[16, 1000], f32>", "!graph.tensor<[16, 1000], f32>",
     100},
    {"scalar", "%x: !graph.tensor<[1], f32>", "%y = graph.unary tanh %x : !graph.tensor<[1], f32>",
     "!graph.tensor<[1], f32>", 100},
};

class ScalarWorkOfModel : public testing::TestWithParam<Model> {
protected:
  ScalarWorkOfModel() {
    options.target = "x86-64-v3";
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }

  /// At the tile level, planned.
  ScalarWork plan(const std::string &arguments, const std::string &body, const std::string &type) {
    module = parseSourceString<ModuleOp>("func.func @main(" + arguments + ") -> (" + type + ") {\n" + body +
                                             "\nreturn %y : " + type + "\n}",
                                         context.get());
    if (!module)
      return {};
    auto main = module->lookupSymbol<func::FuncOp>("main");
    OpBuilder builder(context.get());
    for (unsigned number = 0; number < main.getNumArguments(); ++number)
      main.setArgAttr(number, "graph.name", builder.getStringAttr("x" + std::to_string(number)));
    main.setResultAttr(0, "graph.name", builder.getStringAttr("y"));
    PassManager passes(context.get());
    addGraphPipeline(passes, options);
    addTilePipeline(passes, options);
    EXPECT_TRUE(succeeded(passes.run(*module)));
    return collectScalarWork(*module);
  }

  /// Whether the code of a program has vectors or calls a micro-kernel.
  bool emitsVectors(StringRef program) {
    OwningOpRef<ModuleOp> code = module->clone();
    code->lookupSymbol("main")->erase();
    PassManager passes(context.get());
    passes.addPass(codegen::createEmitPrograms());
    EXPECT_TRUE(succeeded(passes.run(*code)));
    bool found = false, known = false;
    code->walk([&](func::FuncOp function) {
      if (function.getSymName() != program)
        return;
      known = true;
      function.walk([&](Operation *op) {
        found |= isa<func::CallOp>(op) || llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
      });
    });
    EXPECT_TRUE(known) << program.str();
    return found;
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  Options options;
};

TEST_P(ScalarWorkOfModel, IsWhatIsEmitted) {
  const Model &model = GetParam();
  ScalarWork work = plan(model.arguments, model.body, model.type);
  ASSERT_GT(work.operations, 0);
  EXPECT_EQ(100 * work.scalar / work.operations, model.scalar);
  bool any = false;
  for (auto program : module->getOps<tile::ProgramOp>()) {
    StringRef name = program.getSymName();
    bool isScalar = llvm::any_of(work.programs, [&](const ScalarProgram &scalar) {
      return scalar.program == name && scalar.scalar == scalar.operations;
    });
    EXPECT_NE(emitsVectors(name), isScalar) << name.str();
    any = true;
  }
  EXPECT_TRUE(any);
}

INSTANTIATE_TEST_SUITE_P(Models, ScalarWorkOfModel, testing::ValuesIn(models),
                         [](const auto &test) { return std::string(test.param.name); });

/// What is warned of: much, and much of the model.
TEST(ScalarWork, IsSlowWhereThereIsMuch) {
  auto slowOf = [](int64_t operations, int64_t scalar) {
    ScalarWork work{operations, scalar, {{"p0", "sort", "f32[8]", scalar, scalar, "why"}}};
    return work.findSlow().size();
  };
  EXPECT_EQ(slowOf(100'000, 100'000), 1u);
  EXPECT_EQ(slowOf(1'000'000, 100'000), 1u);
  EXPECT_EQ(slowOf(10'000'000, 100'000), 0u);
  EXPECT_EQ(slowOf(100, 100), 0u);
}

TEST(ScalarWork, IsReadAsItWasWritten) {
  ScalarWork work{9, 3, {{"p0", "node", "f32[n]", 5, 3, "why"}}};
  EXPECT_EQ(ScalarWork::fromJson(work.toJson()).toJson(), work.toJson());
}

} // namespace
