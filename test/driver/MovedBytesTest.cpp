// The bytes that programs move: exact for single programs, and what connection saves.
#include "compiler/driver/MovedBytes.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/driver/Pipelines.h"
#include "compiler/driver/Registration.h"
#include "compiler/plan/Traffic.h"
#include "compiler/tile/LevelTraffic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

namespace {

class MovedBytes : public testing::Test {
protected:
  MovedBytes() {
    options.target = "x86-64-v3";
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }

  /// Plans a function that returns %y, of this type.
  void plan(const std::string &arguments, const std::string &body, const std::string &type) {
    module = parseSourceString<ModuleOp>("func.func @main(" + arguments + ") -> (" + type + ") {\n" + body +
                                             "\nreturn %y : " + type + "\n}",
                                         context.get());
    ASSERT_TRUE(module);
    auto main = module->lookupSymbol<func::FuncOp>("main");
    OpBuilder builder(context.get());
    for (unsigned number = 0; number < main.getNumArguments(); ++number)
      main.setArgAttr(number, "graph.name", builder.getStringAttr("x" + std::to_string(number)));
    main.setResultAttr(0, "graph.name", builder.getStringAttr("y"));
    PassManager passes(context.get());
    addGraphPipeline(passes, options);
    addTilePipeline(passes, options);
    ASSERT_TRUE(succeeded(passes.run(*module)));
  }

  tile::ProgramOp getProgram() { return *module->getOps<tile::ProgramOp>().begin(); }

  tile::FetchedBytes predict(const DeviceDescription &device) {
    tile::ProgramOp program = getProgram();
    tile::TypicalRuns runs(program);
    auto sizeOf = [&](StringRef symbol) {
      return std::optional(runs.evaluate(sym::Expr::symbol(context.get(), symbol)).front());
    };
    auto valueOf = [&](sym::Expr size) { return size.evaluate(sizeOf).value_or(-1); };
    return tile::predictFetched(program, tile::DeviceRates::get(device), valueOf);
  }

  /// Of softmax(q k^T) v at a length.
  int64_t countOfAttention(int64_t length) {
    std::string rows = llvm::formatv("!graph.tensor<[{0}, 64], f32>", length),
                scores = llvm::formatv("!graph.tensor<[{0}, {0}], f32>", length);
    plan("%q: " + rows + ", %k: " + rows + ", %v: " + rows,
         "%s = graph.contract %q, %k batch [] x [] contract [1] x [1] : " + rows + ", " + rows +
             "\n%p = graph.softmax %s axis 1 : " + scores +
             "\n%y = graph.contract %p, %v batch [] x [] contract [1] x [0] : " + scores + ", " + rows,
         rows);
    return countMovedBytes(*module);
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  Options options;
};

TEST_F(MovedBytes, OfAMapAreItsTensors) {
  plan("%x: !graph.tensor<[n, 48], f32>", "%y = graph.unary tanh %x : !graph.tensor<[n, 48], f32>",
       "!graph.tensor<[n, 48], f32>");
  tile::Traffic traffic = tile::Traffic::get(getProgram());
  EXPECT_EQ(traffic.read, traffic.written);
  // Nothing is known of n: 128.
  EXPECT_EQ(countMovedBytes(*module), 2 * 128 * 48 * 4);
}

TEST_F(MovedBytes, OfBroadcastsAreReadOnce) {
  plan("%x: !graph.tensor<[64, 48], f32>, %b: !graph.tensor<[48], f32>",
       "%c = graph.broadcast %b dims [1] : !graph.tensor<[48], f32> -> !graph.tensor<[64, 48], f32>\n"
       "%y = graph.binary add %x, %c : !graph.tensor<[64, 48], f32>",
       "!graph.tensor<[64, 48], f32>");
  EXPECT_EQ(countMovedBytes(*module), (2 * 64 + 1) * 48 * 4);
}

TEST_F(MovedBytes, OfAProductAreItsMatrices) {
  plan("%x: !graph.tensor<[64, 128], f32>, %w: !graph.tensor<[128, 256], f32>",
       "%y = graph.contract %x, %w batch [] x [] contract [1] x [0] : !graph.tensor<[64, 128], f32>, "
       "!graph.tensor<[128, 256], f32>",
       "!graph.tensor<[64, 256], f32>");
  constexpr int64_t bytes = 4 * (64 * 128 + 128 * 256 + 64 * 256);
  EXPECT_EQ(countMovedBytes(*module), bytes);

  DeviceDescription device = llvm::cantFail(DeviceDescription::get("x86-64-v3"));
  // 224 KiB and the packed panels are in L2.
  tile::FetchedBytes fetched = predict(device);
  EXPECT_GE(fetched.l1, double(bytes));
  EXPECT_EQ(fetched.l2, 0);
  EXPECT_EQ(fetched.l3, 0);
  device.memoryLevels = {{4 << 10}, {16 << 10}, {64 << 10}};
  tile::FetchedBytes small = predict(device);
  EXPECT_GE(small.l1, fetched.l1);
  EXPECT_GE(small.l1, small.l2);
  EXPECT_GE(small.l2, small.l3);
  EXPECT_GE(small.l3, double(bytes));
}

/// The scores of connected products stay in scratch.
TEST_F(MovedBytes, GrowWithTheLengthWhereAttentionIsConnected) {
  int64_t tensors = 4 * 512 * 64 * 4;
  EXPECT_EQ(countOfAttention(512), tensors);
  EXPECT_EQ(countOfAttention(1024), 2 * tensors);
  options.switches.connect = options.switches.reassociate = false;
  EXPECT_GE(countOfAttention(512), tensors + 2 * 512 * 512 * 4);
  EXPECT_GE(countOfAttention(1024), 2 * tensors + 2 * 1024 * 1024 * 4);
}

} // namespace
