#include "compiler/dialect/sym/SymbolicRange.h"

#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace freestone::sym;

namespace {

/// i is from 0 to n, k from 1 to m.
class SymbolicRangeTest : public testing::Test {
protected:
  SymbolicRangeTest() { context.loadDialect<SymDialect>(); }

  Expr parse(llvm::StringRef text) {
    std::string error;
    llvm::FailureOr<Expr> expr = parseExpr(&context, text, &error);
    EXPECT_TRUE(succeeded(expr)) << error;
    return succeeded(expr) ? *expr : Expr::invalid(&context);
  }
  SymbolicRange find(llvm::StringRef text) {
    return findRange(parse(text), [&](llvm::StringRef name) -> std::optional<SymbolicRange> {
      if (name == "i")
        return SymbolicRange{parse("0"), parse("n")};
      if (name == "k")
        return SymbolicRange{parse("1"), parse("m")};
      return std::nullopt;
    });
  }
  std::string greatest(llvm::StringRef text) { return find(text).greatest.str(); }
  std::string least(llvm::StringRef text) { return find(text).least.str(); }

  mlir::MLIRContext context;
};

TEST_F(SymbolicRangeTest, OtherSymbolsStay) {
  EXPECT_EQ(greatest("4*b + c floordiv 8"), "4*b + c floordiv 8");
  EXPECT_EQ(greatest("b*i + b"), "b*n + b");
}

TEST_F(SymbolicRangeTest, WhatIsSubtractedIsLeast) {
  EXPECT_EQ(greatest("b - i"), "b");
  EXPECT_EQ(least("b - i"), "b - n");
  EXPECT_EQ(greatest("i - k"), "n - 1");
}

TEST_F(SymbolicRangeTest, OperandsAreBounded) {
  EXPECT_EQ(greatest("min(b, i + 1)"), parse("min(b, n + 1)").str());
  EXPECT_EQ(greatest("i ceildiv 8"), "n ceildiv 8");
  EXPECT_EQ(least("i floordiv k"), "0");
  EXPECT_EQ(greatest("i floordiv k"), "n");
  EXPECT_EQ(least("b floordiv k"), "b floordiv m");
}

/// Every value is within the range, for all values of the symbols.
TEST_F(SymbolicRangeTest, HoldsEveryValue) {
  for (llvm::StringRef text : {"b - i + 3*k", "min(i, b) + max(k, 2)", "b*(n - i) + k", "(b + i) floordiv k", "i*k - i",
                               "max(b - i, 0)", "(b*i) ceildiv k", "5 + min(i - 4, 0)"}) {
    Expr expr = parse(text);
    SymbolicRange range = find(text);
    for (int64_t n = 0; n < 6; ++n)
      for (int64_t m = 1; m < 5; ++m)
        for (int64_t b = 0; b < 7; ++b)
          for (int64_t i = 0; i <= n; ++i)
            for (int64_t k = 1; k <= m; ++k) {
              auto valueOf = [&](llvm::StringRef name) -> std::optional<int64_t> {
                return name == "n" ? n : name == "m" ? m : name == "b" ? b : name == "i" ? i : k;
              };
              int64_t value = *expr.evaluate(valueOf);
              EXPECT_LE(*range.least.evaluate(valueOf), value) << text.str();
              EXPECT_GE(*range.greatest.evaluate(valueOf), value) << text.str();
            }
  }
}

} // namespace
