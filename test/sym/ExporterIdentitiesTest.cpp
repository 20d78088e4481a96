// Sizes by ONNX's rules against the same sizes as written by exporters; draw_identities.py generates them.

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace freestone::sym;
using llvm::StringRef;

namespace {

TEST(ExporterIdentities, AllFold) {
  mlir::MLIRContext context;
  context.loadDialect<SymDialect>();
  std::ifstream file(EXPORTER_IDENTITIES);
  ASSERT_TRUE(file) << EXPORTER_IDENTITIES;

  int count = 0;
  for (std::string line; std::getline(file, line);) {
    StringRef identity = StringRef(line).split('#').first.trim();
    if (identity.empty())
      continue;
    auto [equation, conditions] = identity.split(" given ");
    auto [left, right] = equation.split(" == ");
    Bounds bounds(Interval::size());
    while (!conditions.empty()) {
      auto [condition, rest] = conditions.split(", ");
      auto [symbol, least] = condition.split(" >= ");
      int64_t lo;
      ASSERT_FALSE(least.getAsInteger(10, lo)) << line;
      bounds.set(symbol, Interval{lo, Interval::plusInfinity});
      conditions = rest;
    }

    std::string error;
    llvm::FailureOr<Expr> lhs = parseExpr(&context, left, &error), rhs = parseExpr(&context, right, &error);
    ASSERT_TRUE(succeeded(lhs) && succeeded(rhs)) << error;
    if (identity.contains(" given "))
      lhs = bounds.simplify(*lhs), rhs = bounds.simplify(*rhs);
    EXPECT_EQ(*lhs, *rhs) << line << "\n  " << lhs->str() << "\n  " << rhs->str();
    ++count;
  }
  EXPECT_GE(count, 200);
}

} // namespace
