#include "compiler/dialect/sym/Expr.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <limits>

using namespace freestone::sym;

namespace {

constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
constexpr int64_t largest = std::numeric_limits<int64_t>::max();

class ExprTest : public testing::Test {
protected:
  ExprTest() {
    context.loadDialect<SymDialect>();
    b = Expr::symbol(&context, "b");
    s = Expr::symbol(&context, "s");
    h = Expr::symbol(&context, "h");
  }

  Expr number(int64_t value) { return Expr::constant(&context, value); }
  Expr parse(llvm::StringRef text) {
    std::string error;
    llvm::FailureOr<Expr> expr = parseExpr(&context, text, &error);
    EXPECT_TRUE(succeeded(expr)) << error;
    return succeeded(expr) ? *expr : Expr::invalid(&context);
  }

  mlir::MLIRContext context;
  Expr b, s, h;
};

TEST_F(ExprTest, SumsAndProductsAreOnePolynomial) {
  EXPECT_EQ((s + 1) * b, b * s + b);
  EXPECT_EQ((b + s) * (b - s), b * b - s * s);
  EXPECT_EQ(s - s, number(0));
  EXPECT_EQ((4 * s + 1) - 1, s * 4);
  EXPECT_EQ((b * s * 768).str(), "768*b*s");
  EXPECT_EQ((s * 4 + 1).str(), "4*s + 1");
  EXPECT_EQ((3 - s).str(), "-s + 3");
}

TEST_F(ExprTest, AnAtomIsItsOwnOnlyTerm) {
  EXPECT_EQ(s.kind(), Kind::Symbol);
  ASSERT_EQ(s.terms().size(), 1u);
  EXPECT_EQ(s.terms().front().factors.front().atom, s);
  EXPECT_TRUE(number(0).terms().empty());
  EXPECT_EQ((2 * s + 7).constantTerm(), 7);
  EXPECT_EQ(number(3).asConstant(), 3);
  EXPECT_EQ(s.asSymbol(), "s");
  EXPECT_FALSE((s + 1).asSymbol());
}

TEST_F(ExprTest, MultiplesOfOneSymbol) {
  EXPECT_EQ(s.asMultiple(), std::pair(llvm::StringRef("s"), int64_t(1)));
  EXPECT_EQ((32 * s).asMultiple(), std::pair(llvm::StringRef("s"), int64_t(32)));
  for (const Expr &other : {number(3), 2 * s + 1, s * s, Expr::floorDiv(s, 2), -2 * s})
    EXPECT_FALSE(other.asMultiple()) << other.str();
}

TEST_F(ExprTest, DivisorsOfSeveralSignsKeepThem) {
  for (Expr divisor : {b - s, s - b}) {
    Expr quotient = Expr::floorDiv(b + 5, divisor);
    ASSERT_EQ(quotient.kind(), Kind::FloorDiv) << quotient.str();
    EXPECT_EQ(quotient.operands()[1], divisor);
  }
  EXPECT_EQ(Expr::floorDiv(b, -s), Expr::floorDiv(-b, s));
}

TEST_F(ExprTest, DivisionByConstants) {
  EXPECT_EQ(Expr::floorDiv(8 * s + 3, 8), s);
  EXPECT_EQ(Expr::floorDiv(8 * s + 8, 8), s + 1);
  EXPECT_EQ(Expr::mod(8 * s, 8), number(0));
  EXPECT_EQ(Expr::mod(8 * s + b, 8), Expr::mod(b, 8));
  EXPECT_EQ(Expr::mod(Expr::mod(s, 8), 4), Expr::mod(s, 4));
  EXPECT_EQ(Expr::floorDiv(6 * s + 5, 4), s + 1 + Expr::floorDiv(s, 2));
  EXPECT_EQ(Expr::floorDiv(Expr::floorDiv(s, 3), 4), Expr::floorDiv(s, 12));
  EXPECT_EQ(Expr::floorDiv(Expr::floorDiv(s, 3) + 2, 4), Expr::floorDiv(s + 6, 12));
  EXPECT_EQ(Expr::ceilDiv(s, 1), s);
  EXPECT_EQ(Expr::ceilDiv(s, 32), Expr::floorDiv(s + 31, 32));
  EXPECT_EQ(Expr::ceilDiv(s, 2) + Expr::floorDiv(s, 2), s);
  EXPECT_EQ(Expr::floorDiv(s, -3), -Expr::ceilDiv(s, 3));
  EXPECT_EQ(8 * Expr::floorDiv(s, 8) + Expr::mod(s, 8), s);
  EXPECT_EQ(Expr::floorDiv(number(-7), 2), number(-4));
  EXPECT_EQ(Expr::mod(number(-7), 2), number(1));
  EXPECT_EQ(Expr::ceilDiv(number(-7), 2), number(-3));
}

TEST_F(ExprTest, DivisionByZeroIsDefined) {
  EXPECT_EQ(Expr::floorDiv(s, 0), number(0));
  EXPECT_EQ(Expr::ceilDiv(s, 0), number(0));
  EXPECT_EQ(Expr::mod(s, 0), s);
  // Not s: at b = 0 it is 0.
  EXPECT_NE(Expr::floorDiv(b * s, b), s);
  auto zeroBatch = [](llvm::StringRef name) -> std::optional<int64_t> { return name == "b" ? 0 : 5; };
  EXPECT_EQ(Expr::floorDiv(b * s, b).evaluate(zeroBatch), 0);
}

TEST_F(ExprTest, SignsOfSymbolicDivisionMeet) {
  EXPECT_EQ(Expr::floorDiv(-s, -b), Expr::floorDiv(s, b));
  EXPECT_EQ(Expr::floorDiv(-s, b), -Expr::ceilDiv(s, b));
  EXPECT_EQ(Expr::floorDiv(6 * s, 4 * b), Expr::floorDiv(3 * s, 2 * b));
  EXPECT_EQ(Expr::ceilDiv(b * s, b), Expr::floorDiv(b * s, b));
  EXPECT_EQ(b * Expr::floorDiv(s, b) + Expr::mod(s, b), s);
}

TEST_F(ExprTest, Extrema) {
  EXPECT_EQ(Expr::min(s, s + 3), s);
  EXPECT_EQ(Expr::max(s, s + 3), s + 3);
  EXPECT_EQ(Expr::min(b, Expr::min(s, h)), Expr::min(Expr::min(h, b), s));
  EXPECT_EQ(Expr::min(4 * s, 8 * b), 4 * Expr::min(s, 2 * b));
  EXPECT_EQ(Expr::min(s + b, s + h), s + Expr::min(b, h));
  EXPECT_EQ(Expr::max(-s, -b), -Expr::min(s, b));
  EXPECT_EQ(Expr::min(s, b) + Expr::max(s, b), s + b);
  EXPECT_EQ(Expr::min(s, number(512)) + Expr::max(s - 512, number(0)), s);
  EXPECT_EQ(Expr::min(number(3), number(5)), number(3));
  EXPECT_EQ(Expr::min(4 * s, number(largest)), 4 * s);
  EXPECT_EQ(Expr::max(s, number(largest)), number(largest));
  EXPECT_EQ(Expr::max({s, b, h}), -Expr::min({-s, -b, -h}));
}

TEST_F(ExprTest, ExactDivision) {
  EXPECT_EQ((b * s * 768).exactDiv(b * 12), 64 * s);
  EXPECT_EQ((b * b - s * s).exactDiv(b + s), b - s);
  EXPECT_EQ((b * (s + 1) * 6).exactDiv(2 * s + 2), 3 * b);
  EXPECT_EQ(number(0).exactDiv(s), number(0));
  EXPECT_FALSE((b * s).exactDiv(h));
  EXPECT_FALSE((3 * s).exactDiv(number(2)));
  EXPECT_FALSE(s.exactDiv(number(0)));
  EXPECT_FALSE((number(smallest) * s).exactDiv(number(-1)));
  Expr half = Expr::floorDiv(s, 2);
  EXPECT_EQ((b * half * 2).exactDiv(half), 2 * b);
}

TEST_F(ExprTest, OverflowIsInvalidAndAbsorbs) {
  Expr huge = number(largest) * s;
  EXPECT_TRUE((huge + huge).isInvalid());
  EXPECT_TRUE((number(largest) + 1).isInvalid());
  EXPECT_TRUE((-number(smallest)).isInvalid());
  EXPECT_TRUE(((huge + huge) * 0 + s).isInvalid());
  EXPECT_TRUE(Expr::min(huge * 2, s).isInvalid());
  EXPECT_TRUE(Expr::floorDiv(s, smallest).isInvalid());
  EXPECT_FALSE((huge * 2).evaluate([](llvm::StringRef) { return 0; }));
  EXPECT_EQ(huge - huge, number(0));
  EXPECT_EQ((huge + huge).str(), "invalid");
}

TEST_F(ExprTest, GrowthIsBounded) {
  Expr power = s;
  for (int i = 0; i < 10; ++i)
    power = power * power;
  EXPECT_TRUE(power.isInvalid());
  Expr sum = number(0);
  for (int i = 0; i < 100; ++i)
    sum = sum + Expr::symbol(&context, "x" + std::to_string(i));
  EXPECT_TRUE((sum * sum).isInvalid());
}

TEST_F(ExprTest, EvaluationStopsAtOverflow) {
  auto billions = [](llvm::StringRef) -> std::optional<int64_t> { return int64_t(1) << 40; };
  EXPECT_EQ((s + b).evaluate(billions), int64_t(1) << 41);
  EXPECT_FALSE((s * b).evaluate(billions));
  EXPECT_EQ((s * b - s * h + s).evaluate(billions), int64_t(1) << 40);
  EXPECT_FALSE((2 * s * b - s * h + s).evaluate(billions));
  EXPECT_FALSE(s.evaluate([](llvm::StringRef) { return std::nullopt; }));
}

TEST_F(ExprTest, Substitution) {
  auto doubled = [&](llvm::StringRef name) -> std::optional<Expr> {
    return name == "s" ? std::optional<Expr>(2 * b) : std::nullopt;
  };
  EXPECT_EQ((s * h + Expr::floorDiv(s, 2)).substitute(doubled), 2 * b * h + b);
  EXPECT_EQ(h.substitute(doubled), h);
  // Simultaneously: the new b is not replaced again.
  EXPECT_EQ((s + b).substitute([&](llvm::StringRef name) { return std::optional(name == "s" ? b : s); }), s + b);
}

TEST_F(ExprTest, SymbolsAreCollectedOnce) {
  llvm::SetVector<mlir::StringAttr> symbols;
  (b * s + Expr::floorDiv(h + s, 3)).collectSymbols(symbols);
  EXPECT_EQ(symbols.size(), 3u);
}

TEST_F(ExprTest, IdiomsReadWell) {
  EXPECT_EQ(Expr::mod(s, 8).str(), "s mod 8");
  EXPECT_EQ(Expr::ceilDiv(s, 32).str(), "s ceildiv 32");
  EXPECT_EQ(Expr::ceilDiv(s, 2).str(), "s ceildiv 2");
  EXPECT_EQ((Expr::max(s, number(1)) * 4).str(), "4*max(s, 1)");
  EXPECT_EQ((Expr::floorDiv(s, 2) + b).str(), "b + s floordiv 2");
  EXPECT_EQ((b * Expr::floorDiv(s, 2)).str(), "b*(s floordiv 2)");
  EXPECT_EQ(parse("4*h + s floordiv 2").str(), "4*h + s floordiv 2");
}

} // namespace
