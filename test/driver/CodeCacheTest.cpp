// Which differences affect the key of a model's code; test/cache/variants.py tests the same through the command.
#include "compiler/driver/CodeCache.h"
#include "compiler/driver/ModelNames.h"
#include "compiler/driver/Registration.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <functional>
#include <set>

using namespace freestone;
using namespace freestone::driver;

namespace {

/// A cache of its own that keeps an entry for every requested key.
class Keys {
public:
  Keys() {
    device.triple = "t";
    device.cpu = "c";
    device.features = "+f";
    char name[] = "/tmp/freestone-code-XXXXXX";
    folder = mkdtemp(name);
    settings.folder = folder + "/cache";
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  ~Keys() { std::filesystem::remove_all(folder); }

  /// Whether the code was cached; afterwards it is.
  bool isKnown() {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    if (!module)
      std::abort();
    WeightStore weights;
    moveConstantsToWeights(*module, weights);
    ModelNames names(*module);
    cache::Store store(settings);
    CodeCache codes(store, compiler);
    cache::Claim claim = codes.claim(*module, options, device);
    if (!claim.payload)
      codes.keep("code", "");
    return claim.payload.has_value();
  }
  void replace(const std::string &old, const std::string &now) {
    size_t at = text.find(old);
    if (at == std::string::npos)
      std::abort();
    for (; at != std::string::npos; at = text.find(old, at + now.size()))
      text.replace(at, old.size(), now);
  }

  std::string text = R"(
    module @net {
      func.func @main(%x: !graph.tensor<[b, 4], f32> {graph.name = "x"} loc("x"),
                      %m: !graph.tensor<[4], f32> {graph.state = "m", graph.initial = "m0"} loc("x"))
          -> (!graph.tensor<[b, 4], f32> {graph.name = "y"}, !graph.tensor<[4], f32> {graph.state = "m"})
          attributes {graph.symbols = {b = #sym.bounds<[1, 64]>}} {
        %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> -> !graph.tensor<[4], f32> loc("scale")
        %w = graph.weight "w" : !graph.tensor<[4], f32> loc("scale")
        %s = graph.binary mul %c, %w : !graph.tensor<[4], f32> loc("scale")
        %n = graph.binary add %m, %s : !graph.tensor<[4], f32> loc("sum")
        %l = graph.broadcast %n dims [1] : !graph.tensor<[4], f32> -> !graph.tensor<[b, 4], f32> loc("spread")
        %y = graph.binary mul %x, %l : !graph.tensor<[b, 4], f32> loc("last")
        return %y, %n : !graph.tensor<[b, 4], f32>, !graph.tensor<[4], f32>
      }
    })";
  std::string compiler = "1";
  Options options;
  DeviceDescription device;

private:
  std::string folder;
  cache::Settings settings;
  std::unique_ptr<mlir::MLIRContext> context;
};

} // namespace

TEST(CodeCache, EveryPartOfTheDeviceCounts) {
  std::vector<std::function<void(Keys &)>> changes = {
      [](Keys &keys) { keys.compiler = "2"; },
      [](Keys &keys) { keys.device.triple = "u"; },
      [](Keys &keys) { keys.device.cpu = "d"; },
      [](Keys &keys) { keys.device.features = "+f,+g"; },
      [](Keys &keys) { keys.device.features = "-f"; },
      [](Keys &keys) { keys.device.vectorBytes *= 2; },
      [](Keys &keys) { keys.device.vectorRegisters *= 2; },
      [](Keys &keys) { keys.device.instructions = {"g"}; },
      [](Keys &keys) { keys.device.tileInstructions = {"g"}; },
      [](Keys &keys) { keys.device.units *= 2; },
      [](Keys &keys) { keys.device.memoryLevels[0].bytes *= 2; },
      [](Keys &keys) { keys.device.memoryLevels[1].lineBytes *= 2; },
      [](Keys &keys) { keys.device.memoryLevels[2].sharedBy *= 2; },
      [](Keys &keys) { keys.device.memoryLevels.pop_back(); },
      [](Keys &keys) { keys.device.roundsToBF16 = true; },
      [](Keys &keys) { keys.device.permutesBytes = true; },
      [](Keys &keys) { keys.device.pairUnit = WordUnit::vectors; },
      [](Keys &keys) { keys.device.quadUnit = WordUnit::vectors; },
      [](Keys &keys) { keys.device.rates.levels = {1e11}; },
      [](Keys &keys) { keys.device.rates.multiplyAdds = 1e11; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Keys keys;
    EXPECT_FALSE(keys.isKnown());
    EXPECT_TRUE(keys.isKnown());
    changes[i](keys);
    EXPECT_FALSE(keys.isKnown()) << i;
  }
}

TEST(CodeCache, EverySwitchCounts) {
  Keys keys;
  EXPECT_FALSE(keys.isKnown());
  for (const SwitchInfo &info : switchTable) {
    keys.options.switches.*info.isOn = false;
    EXPECT_FALSE(keys.isKnown()) << info.name;
    keys.options.switches.*info.isOn = true;
    EXPECT_TRUE(keys.isKnown());
  }
}

TEST(CodeCache, TimingOfTilingsCounts) {
  Keys keys;
  EXPECT_FALSE(keys.isKnown());
  keys.options.tune = true;
  EXPECT_FALSE(keys.isKnown());
  EXPECT_TRUE(keys.isKnown());
}

TEST(CodeCache, WhatTheModuleSaysCounts) {
  const std::pair<const char *, const char *> changes[] = {
      {"f32", "f64"},                                                         // dtype
      {"[1, 64]", "[1, 65]"},                                                 // bounds of a symbol
      {"[1, 64]", "[2, 64]"},                                                 //
      {"<[1, 64]>", "<[1, 64], multiple_of 8>"},                              //
      {"[b, 4]", "[7, 4]"},                                                   // a bound symbol
      {"mul %x, %l", "add %x, %l"},                                           // an operation
      {"graph.state = \"m\", graph.initial = \"m0\"", "graph.state = \"m\""}, // first value of a state
      {"dense<[1.0, 2.0, 3.0, 4.0]>", "dense<2.0>"}, // numbers by which the program can be simplified
      {"loc(\"last\")", "loc(\"sum\")"},             // which operations belong to one node
  };
  for (const auto &[old, now] : changes) {
    Keys keys;
    EXPECT_FALSE(keys.isKnown());
    keys.replace(old, now);
    EXPECT_FALSE(keys.isKnown()) << old << " becomes " << now;
  }
}

/// A donated argument and result: the same program without is another.
TEST(CodeCache, DonationCounts) {
  Keys keys;
  EXPECT_FALSE(keys.isKnown());
  keys.replace("!graph.tensor<[4], f32> {graph.state = \"m\"})", "!graph.tensor<[4], f32> {graph.name = \"m\"})");
  EXPECT_FALSE(keys.isKnown());
}

TEST(CodeCache, NamesAndValuesDoNotCount) {
  Keys keys;
  EXPECT_FALSE(keys.isKnown());
  const std::pair<const char *, const char *> changes[] = {
      {"@net", "@other"},      {"\"x\"", "\"in/put\""},  {"\"y\"", "\"out\""},
      {"\"m\"", "\"moment\""}, {"\"m0\"", "\"begins\""}, {"\"w\"", "\"weight\""},
      {"\"scale\"", "\"a\""},  {"\"sum\"", "\"z\""},     {"\"last\"", "\"b\""},
      {"[b, 4]", "[size, 4]"}, {"{b = ", "{size = "},    {"[1.0, 2.0, 3.0, 4.0]", "[4.0, 2.5, -3.0, 1.0]"},
  };
  for (const auto &[old, now] : changes) {
    keys.replace(old, now);
    if (std::string(old) != "[b, 4]") // its bounds are next
      EXPECT_TRUE(keys.isKnown()) << old << " becomes " << now;
  }
}

TEST(ModelNames, AreSaidOfTheModelAtHand) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: !graph.tensor<["my size", k], f32> {graph.name = "x$0$"} loc("x$0$"))
        -> (!graph.tensor<["my size", k], f32> {graph.name = "y"})
        attributes {graph.symbols = {"my size" = #sym.bounds<[0, 9]>, k = #sym.bounds<[0, 9]>},
                    graph.assertions = [[#sym.expr<k>, #sym.expr<4>, "at node 'v$0$'"]]} {
      %y = graph.unary neg %x : !graph.tensor<["my size", k], f32> loc("neg")
      return %y : !graph.tensor<["my size", k], f32>
    })",
                                                                                     &context);
  ASSERT_TRUE(module);
  ModelNames names(*module);
  EXPECT_EQ(names.expand("node 'n$0$': s$0$*s$1$ of v$0$ and v$1$, n$1$, t$0$"),
            "node 'neg': \"my size\"*k of x$0$ and y, x$0$, at node 'v$0$'");
  EXPECT_EQ(names.expand("n$7$ v$ $ s$1 cost$1$ v$0$"), "n$7$ v$ $ s$1 cost$1$ x$0$");
  runtime::Descriptor descriptor;
  descriptor.entries.emplace_back().symbols.emplace_back().name = "s$0$";
  descriptor.weights.emplace_back().name = "v$1$:packed";
  names.expand(descriptor);
  EXPECT_EQ(descriptor.entries[0].symbols[0].name, "my size");
  EXPECT_EQ(descriptor.weights[0].name, "y:packed");
}
