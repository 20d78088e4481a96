#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace freestone::sym;

namespace {

class BoundsTest : public testing::Test {
protected:
  BoundsTest() : bounds(Interval::size()) {
    context.loadDialect<SymDialect>();
    bounds.set("s", Interval{1, 2048});
    bounds.set("h", SymbolBounds{{1, Interval::plusInfinity}, 8});
    bounds.set("x", Interval::all());
  }

  Expr parse(llvm::StringRef text) {
    std::string error;
    llvm::FailureOr<Expr> expr = parseExpr(&context, text, &error);
    EXPECT_TRUE(succeeded(expr)) << error;
    return succeeded(expr) ? *expr : Expr::invalid(&context);
  }
  Interval interval(llvm::StringRef text) { return bounds.interval(parse(text)); }
  bool lessOrEqual(llvm::StringRef lhs, llvm::StringRef rhs) { return bounds.provablyLE(parse(lhs), parse(rhs)); }
  std::string simplify(llvm::StringRef text) { return bounds.simplify(parse(text)).str(); }

  mlir::MLIRContext context;
  Bounds bounds;
};

TEST_F(BoundsTest, Intervals) {
  EXPECT_EQ(interval("2*s + 1"), (Interval{3, 4097}));
  EXPECT_EQ(interval("s mod 8"), (Interval{0, 7}));
  EXPECT_EQ(interval("min(s, 512)"), (Interval{1, 512}));
  EXPECT_EQ(interval("max(s, 512) - s"), (Interval{0, 511}));
  EXPECT_EQ(interval("b*s").lo, 0);
  EXPECT_EQ(interval("x"), Interval::all());
  EXPECT_EQ(interval("x*x").lo, 0);
  EXPECT_EQ(interval("h").lo, 8);
  EXPECT_EQ(interval("s ceildiv 32"), (Interval{1, 64}));
}

TEST_F(BoundsTest, Comparisons) {
  EXPECT_TRUE(lessOrEqual("8*(s floordiv 8)", "s"));
  EXPECT_TRUE(lessOrEqual("s", "8*(s ceildiv 8)"));
  EXPECT_TRUE(lessOrEqual("b", "b*s"));
  EXPECT_TRUE(lessOrEqual("min(s, b)", "s"));
  EXPECT_TRUE(lessOrEqual("s floordiv 2", "s"));
  EXPECT_FALSE(lessOrEqual("s", "b"));
  EXPECT_FALSE(lessOrEqual("x floordiv 2", "x"));
  EXPECT_TRUE(bounds.provablyDistinct(parse("2*s"), parse("2*s + 1")));
  EXPECT_TRUE(bounds.provablyPositive(parse("s*h")));
  EXPECT_FALSE(bounds.provablyNonZero(parse("b")));
}

TEST_F(BoundsTest, Multiples) {
  EXPECT_TRUE(bounds.isMultipleOf(parse("h*b + 16"), 8));
  EXPECT_FALSE(bounds.isMultipleOf(parse("h + 4"), 8));
  EXPECT_TRUE(bounds.isMultipleOf(parse("h floordiv 2"), 4));
  EXPECT_TRUE(bounds.isMultipleOf(parse("0"), 8));
  EXPECT_EQ(bounds.divisor(parse("12*s + 18*b")), 6);
}

TEST_F(BoundsTest, SimplifiesWithinBounds) {
  EXPECT_EQ(simplify("max(s, 1)"), "s");
  EXPECT_EQ(simplify("min(s, 4096)"), "s");
  EXPECT_EQ(simplify("(b*s) floordiv s"), "b");
  EXPECT_EQ(simplify("(b*s + s*7 + b) floordiv s"), "b + b floordiv s + 7");
  EXPECT_EQ(simplify("(b*s) floordiv b"), "(b*s) floordiv b");
  EXPECT_EQ(simplify("h mod 8"), "0");
  EXPECT_EQ(simplify("8*(h floordiv 8)"), "h");
  EXPECT_EQ(simplify("(s*b) floordiv (s*h)"), "b floordiv h");
  EXPECT_EQ(simplify("max(0, min(b, s))"), "min(b, s)");
  EXPECT_EQ(simplify("s floordiv 4096"), "0");
}

TEST_F(BoundsTest, MinimaInsideOfMinimaAreAnalysedInTime) {
  // The extent that a crop around the middle of a padded image reads.
  Expr padded = parse("s + (max(s, x) - s) floordiv 2 + ((max(s, x) - s) - (max(s, x) - s) floordiv 2)");
  Expr start = Expr::floorDiv(Expr::max(padded - parse("x"), parse("0")), 2) -
               Expr::floorDiv(Expr::max(parse("x") - padded, parse("0")), 2);
  Expr place =
      Expr::max(parse("0"), Expr::min(start + Expr::min(Expr::max(-start, parse("0")), parse("1")) * padded, padded));
  Expr end = Expr::max(parse("0"), Expr::min(start + parse("x"), padded));
  EXPECT_TRUE(bounds.interval(end - place).contains(0));
}

TEST_F(BoundsTest, EndsSaturate) {
  bounds.set("n", Interval{int64_t(1) << 62, Interval::plusInfinity});
  EXPECT_EQ(interval("n*n").lo, Interval::plusInfinity);
  EXPECT_EQ(interval("n*n - 5*n").hi, Interval::plusInfinity);
  EXPECT_EQ(interval("-n*n").hi, -Interval::plusInfinity);
}

} // namespace
