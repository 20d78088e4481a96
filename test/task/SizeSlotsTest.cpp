#include "compiler/task/SizeSlots.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

const char *const text = R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"k" runtime 3, 0 in [0, 100] bound #sym.expr<3*n>>]
    assert [[#sym.expr<n>, #sym.expr<n floordiv 2>, "nothing"]] {
  %x = task.buffer input "x" : !graph.tensor<[n, 4], f32>
  %h = task.buffer arena : !graph.tensor<[n + 1], f16>
  %y = task.buffer output "y" : !graph.tensor<[k], i1>
  %c = task.buffer arena : !graph.tensor<[1], i64>
  task.phase "a" after all [] same [] binds "k" {
    task.space @p(%x) to (%h, %c) sizes [n, 7*n] tiles n ceildiv 4 time 9*n scratch 10*n reads [?] writes [?, ?] sites [] operations 3*n padding n : (!graph.tensor<[n, 4], f32>) -> (!graph.tensor<[n + 1], f16>, !graph.tensor<[1], i64>)
  }
  task.phase "b" after all [] same [] {
    task.space @p(%h) to (%y) sizes [n, k] tiles k scratch 4096 reads [11*n] writes [?] sites [] operations 10*k padding 0 : (!graph.tensor<[n + 1], f16>) -> (!graph.tensor<[k], i1>)
  }
}
)mlir";

TEST(SizeSlots, NumbersEverySizeOnce) {
  MLIRContext context;
  context.loadDialect<TaskDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  SizeSlots slots(*module->getOps<ProgramOp>().begin());

  EXPECT_EQ(slots.symbolCount(), 2);
  std::vector<std::string> exprs;
  for (sym::Expr expr : slots.getExprs()) {
    EXPECT_EQ(slots.of(expr), static_cast<int64_t>(exprs.size()));
    exprs.push_back(expr.str());
  }
  EXPECT_EQ(slots.count(), static_cast<int64_t>(exprs.size()));
  // Symbols, bounds, bytes and dimensions of buffers, assertions, tiles, spaces, scratch, times, operations;
  // the extents of accesses are used by the compiler only.
  EXPECT_EQ(exprs, (std::vector<std::string>{"n", "k", "3*n", "16*n", "4", "2*n + 2", "8", "n floordiv 2",
                                             "n ceildiv 4", "7*n", "10*n", "max(\"#10\", 4096) + 64", "9*n", "0",
                                             "10*k", "\"#14\" + \"#2\"", "\"#0\""}));
  EXPECT_EQ(slots.checkedCount(), 12);
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> { return SizeSlots::getSlot(name) == 10 ? 5000 : 500; };
  EXPECT_EQ(slots.getScratch().evaluate(valueOf), 5064);
  EXPECT_EQ(slots.getReadable(slots.getOperations()).str(), "10*k + 3*n");
  EXPECT_EQ(slots.getReadable(slots.getPadding()).str(), "n");
}

TEST(SizeSlots, ReadsNoDefinedSizes) {
  const char *const defined = R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>] define [["half", #sym.expr<n floordiv 2>]] {
  %x = task.buffer input "x" : !graph.tensor<[n], f32>
  %y = task.buffer output "y" : !graph.tensor<[n], f32>
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%y) sizes [half] tiles half scratch 0 reads [?] writes [?] sites [] operations 3*half padding n : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
  }
}
)mlir";
  MLIRContext context;
  context.loadDialect<TaskDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(defined, &context);
  ASSERT_TRUE(module);
  SizeSlots slots(*module->getOps<ProgramOp>().begin());
  EXPECT_TRUE(slots.getReadable(slots.getOperations()).isInvalid());
  EXPECT_EQ(slots.getReadable(slots.getPadding()).str(), "n");
}

} // namespace
