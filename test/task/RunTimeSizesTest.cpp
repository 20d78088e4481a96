#include "compiler/task/RunTimeSizes.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "gtest/gtest.h"

namespace freestone::task {

namespace {

/// The square of a difference of two sizes that a run determines is no larger than that of the largest.
TEST(RunTimeSizes, DifferencesWithinProducts) {
  mlir::MLIRContext context;
  context.loadDialect<TaskDialect>();
  auto symbol = [&](llvm::StringRef name) { return sym::Expr::symbol(&context, name); };
  auto limited = [&](llvm::StringRef name) -> mlir::Attribute {
    return SymbolAttr::get(&context, name, SymbolSource::runtime, -1, 0, 1, 0, 7, 1,
                           sym::Expr::constant(&context, 7).attr());
  };
  RunTimeSizes sizes({limited("trips"), limited("turned")}, nullptr);
  sym::Expr rows = symbol("n") * (symbol("trips") - symbol("turned"));
  sym::Expr greatest = sizes.getGreatest(symbol("s") * symbol("s"), [&](llvm::StringRef name) {
    return name == "s" ? std::optional(rows) : std::nullopt;
  });
  EXPECT_EQ(greatest.evaluate([](llvm::StringRef) { return 5; }), 35 * 35);
}

} // namespace

} // namespace freestone::task
