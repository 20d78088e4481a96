#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace freestone::sym;

namespace {

class SyntaxTest : public testing::Test {
protected:
  SyntaxTest() { context.loadDialect<SymDialect>(); }

  /// The parsed text, printed again; or the error.
  std::string read(llvm::StringRef text) {
    std::string error;
    llvm::FailureOr<Expr> expr = parseExpr(&context, text, &error);
    return succeeded(expr) ? expr->str() : error;
  }

  template <typename T> static std::string print(T value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }

  mlir::MLIRContext context;
};

TEST_F(SyntaxTest, ReadsWhatExportersWrite) {
  EXPECT_EQ(read("Min(512, seq)"), "min(seq, 512)");
  EXPECT_EQ(read("12*batch"), "12*batch");
  EXPECT_EQ(read("batch//2"), "batch floordiv 2");
  EXPECT_EQ(read("s + 1"), "s + 1");
  EXPECT_EQ(read("(((height - 1)//2)) + 1"), "height ceildiv 2");
  EXPECT_EQ(read("Mod(7 - (Mod(h, 7)), 7)"), read("(-h) % 7"));
  EXPECT_EQ(read("s77**2"), "s77*s77");
  EXPECT_EQ(read("FloorDiv(s, 3)"), "s floordiv 3");
  EXPECT_EQ(read("CleanDiv(b*s*12, 4*b)"), "3*s");
  EXPECT_EQ(read("2*-3*s"), "-6*s");
  EXPECT_EQ(read("-9223372036854775808"), "-9223372036854775808");
}

TEST_F(SyntaxTest, UnusualNamesAreQuoted) {
  for (llvm::StringRef name : {"", "a b", "1st", "mod", "floordiv", "true", "quo\"te", "back\\slash", "größe", "min"}) {
    Expr expr = Expr::symbol(&context, name) * 2 + 1;
    EXPECT_EQ(read(expr.str()), expr.str()) << name.str();
  }
  EXPECT_EQ(read("\"a b\" + 1"), "\"a b\" + 1");
}

TEST_F(SyntaxTest, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(read("2*(s + "), "expected a size expression at column 8 of '2*(s + '");
  EXPECT_EQ(read("(s"), "expected ')' at column 3 of '(s'");
  EXPECT_EQ(read("s s"), "expected the end of the expression at column 3 of 's s'");
  EXPECT_EQ(read(""), "expected a size expression at column 1 of ''");
  EXPECT_EQ(read("9223372036854775808"), "integer does not fit 64 bits at column 20 of '9223372036854775808'");
  EXPECT_EQ(read("log(s)"), "no function 'log' of 1 operands at column 7 of 'log(s)'");
  EXPECT_NE(read(std::string(100000, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(read(std::string(100000, '-') + "(").find("expected a size expression"), std::string::npos);
}

TEST_F(SyntaxTest, AttributesAndTypesReadBack) {
  for (llvm::StringRef text :
       {"#sym.expr<4*h + 1>", "#sym.expr<min(s, 512)>", "#sym.expr<-(s floordiv 3) + b>", "#sym.expr<\"a b\" mod 8>",
        "#sym.expr<invalid>", "#sym.expr<0>", "#sym.expr<-5>", "#sym.bounds<[1, 2048], multiple_of 8, hint 128>",
        "#sym.bounds<[0, inf]>", "#sym.bounds<[-inf, -3]>"}) {
    mlir::Attribute attribute = mlir::parseAttribute(text, &context);
    ASSERT_TRUE(attribute) << text.str();
    EXPECT_EQ(mlir::parseAttribute(print(attribute), &context), attribute) << print(attribute);
  }
  mlir::Type type = mlir::parseType("!sym.size<b*(s floordiv 2) - 1>", &context);
  ASSERT_TRUE(type);
  EXPECT_EQ(print(type), "!sym.size<b*(s floordiv 2) - 1>");
}

TEST_F(SyntaxTest, EqualExpressionsAreOneAttribute) {
  EXPECT_EQ(mlir::parseAttribute("#sym.expr<(s + 1) * 2>", &context),
            mlir::parseAttribute("#sym.expr<1 + s*2 + 1>", &context));
}

TEST_F(SyntaxTest, SubstitutionReachesIntoTypes) {
  mlir::Type type = mlir::parseType("tuple<!sym.size<2*s>, !sym.size<b>>", &context);
  mlir::Type expected = mlir::parseType("tuple<!sym.size<8*b>, !sym.size<b>>", &context);
  Expr b = Expr::symbol(&context, "b");
  EXPECT_EQ(substituteSymbols(type,
                              [&](llvm::StringRef name) -> std::optional<Expr> {
                                return name == "s" ? std::optional<Expr>(4 * b) : std::nullopt;
                              }),
            expected);
}

} // namespace
