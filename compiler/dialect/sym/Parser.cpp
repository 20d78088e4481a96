#include "compiler/dialect/sym/ExprStorage.h"
#include "compiler/dialect/sym/Syntax.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace freestone::sym;

/// Deeper nesting is refused, so that recursion can't exhaust the stack.
static constexpr unsigned maxNesting = 256;

namespace {

/// Reads tokens of MLIR's textual IR.
class AsmLexer {
public:
  explicit AsmLexer(AsmParser &parser) : parser(parser) {}

  MLIRContext *context() { return parser.getContext(); }
  bool consumePlus() { return succeeded(parser.parseOptionalPlus()); }
  bool consumeMinus() { return succeeded(parser.parseOptionalMinus()); }
  bool consumeStar() { return succeeded(parser.parseOptionalStar()); }
  bool consumePower() { return false; }
  bool consumeLParen() { return succeeded(parser.parseOptionalLParen()); }
  bool consumeRParen() { return succeeded(parser.parseOptionalRParen()); }
  bool consumeComma() { return succeeded(parser.parseOptionalComma()); }

  /// `//` begins a comment of MLIR's, so division is spelled in words.
  std::optional<StringRef> consumeDivision() {
    for (StringRef name : {"floordiv", "ceildiv", "mod"})
      if (succeeded(parser.parseOptionalKeyword(name)))
        return name;
    return std::nullopt;
  }

  OptionalParseResult integer(APInt &value) { return parser.parseOptionalInteger(value); }
  bool keyword(std::string &name) {
    StringRef text;
    if (failed(parser.parseOptionalKeyword(&text)))
      return false;
    name = text.str();
    return true;
  }
  bool quoted(std::string &name) { return succeeded(parser.parseOptionalString(&name)); }

  LogicalResult error(const Twine &message) { return parser.emitError(parser.getCurrentLocation(), message); }

private:
  AsmParser &parser;
};

/// Reads tokens of a string.
class StringLexer {
public:
  StringLexer(MLIRContext *context, StringRef text, std::string *message)
      : mlirContext(context), text(text), rest(text), message(message) {}

  MLIRContext *context() { return mlirContext; }
  bool consumePlus() { return consume("+"); }
  bool consumeMinus() { return consume("-"); }
  bool consumeStar() { return !skipped().starts_with("**") && consume("*"); }
  bool consumePower() { return consume("**"); }
  bool consumeLParen() { return consume("("); }
  bool consumeRParen() { return consume(")"); }
  bool consumeComma() { return consume(","); }

  std::optional<StringRef> consumeDivision() {
    if (consume("//") || consume("/"))
      return "floordiv";
    if (consume("%"))
      return "mod";
    for (StringRef name : {"floordiv", "ceildiv", "mod"}) {
      if (nextName() != name)
        continue;
      consume(name);
      return name;
    }
    return std::nullopt;
  }

  OptionalParseResult integer(APInt &value) {
    StringRef digits = skipped().take_while(llvm::isDigit);
    if (digits.empty())
      return std::nullopt;
    rest = rest.drop_front(digits.size());
    // Four bits a digit suffice.
    value = APInt(digits.size() * 4 + 1, digits, 10);
    return success();
  }

  bool keyword(std::string &name) {
    name = nextName().str();
    return !name.empty() && consume(name);
  }

  bool quoted(std::string &name) {
    if (!skipped().starts_with("\""))
      return false;
    size_t end = rest.find('"', 1);
    if (end == StringRef::npos)
      return false;
    for (StringRef body = rest.slice(1, end); !body.empty();)
      name += unescape(body);
    rest = rest.drop_front(end + 1);
    return true;
  }

  bool atEnd() { return skipped().empty(); }

  LogicalResult error(const Twine &what) {
    if (message)
      *message = (what + " at column " + Twine(text.size() - skipped().size() + 1) + " of '" + text + "'").str();
    return failure();
  }

private:
  StringRef skipped() { return rest = rest.ltrim(); }
  bool consume(StringRef token) { return skipped().starts_with(token) && (rest = rest.drop_front(token.size()), true); }
  StringRef nextName() {
    if (skipped().empty() || !(llvm::isAlpha(rest.front()) || rest.front() == '_'))
      return {};
    return rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  }

  /// Takes one character: itself, a doubled backslash, or a backslash and two hexadecimal digits.
  static char unescape(StringRef &body) {
    if (body.consume_front("\\\\"))
      return '\\';
    bool escaped = body.size() >= 3 && body[0] == '\\' && llvm::isHexDigit(body[1]) && llvm::isHexDigit(body[2]);
    char result = escaped ? static_cast<char>(llvm::hexFromNibbles(body[1], body[2])) : body.front();
    body = body.drop_front(escaped ? 3 : 1);
    return result;
  }

  MLIRContext *mlirContext;
  StringRef text, rest;
  std::string *message;
};

/// Recursive descent: sum := product (('+' | '-') product)*, product := power (('*' | division) power)*.
template <typename Lexer> class ExprParser {
public:
  explicit ExprParser(Lexer &lexer) : lexer(lexer) {}

  FailureOr<Expr> parseSum() {
    if (nesting == maxNesting)
      return lexer.error("expression is nested too deeply");
    ++nesting;
    FailureOr<Expr> sum = parseProduct();
    while (succeeded(sum)) {
      bool minus = false;
      if (!lexer.consumePlus() && !(minus = lexer.consumeMinus()))
        break;
      FailureOr<Expr> product = parseProduct();
      if (failed(product))
        return failure();
      sum = minus ? *sum - *product : *sum + *product;
    }
    --nesting;
    return sum;
  }

private:
  FailureOr<Expr> parseProduct() {
    FailureOr<Expr> product = parseSigned();
    while (succeeded(product)) {
      bool star = lexer.consumeStar();
      std::optional<StringRef> division;
      if (!star && !(division = lexer.consumeDivision()))
        break;
      FailureOr<Expr> operand = parseSigned();
      if (failed(operand))
        return failure();
      product = star ? *product * *operand : divide(*division, *product, *operand);
    }
    return product;
  }

  FailureOr<Expr> parseSigned() {
    bool negative = false;
    while (lexer.consumeMinus())
      negative = !negative;
    APInt value;
    OptionalParseResult integer = lexer.integer(value);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      return parseLiteral(value, negative);
    }
    FailureOr<Expr> expr = parsePower();
    if (failed(expr))
      return failure();
    return negative ? -*expr : *expr;
  }

  FailureOr<Expr> parseLiteral(APInt value, bool negative) {
    value = value.zext(value.getBitWidth() + 1);
    if (negative)
      value.negate();
    if (!value.isSignedIntN(64))
      return lexer.error("integer does not fit 64 bits");
    return Expr::constant(lexer.context(), value.sextOrTrunc(64).getSExtValue());
  }

  FailureOr<Expr> parsePower() {
    FailureOr<Expr> base = parsePrimary();
    if (failed(base) || !lexer.consumePower())
      return base;
    APInt exponent;
    if (OptionalParseResult integer = lexer.integer(exponent);
        !integer.has_value() || failed(*integer) || exponent.ugt(Expr::maxDegree))
      return lexer.error("expected a small integer as exponent");
    Expr power = Expr::constant(lexer.context(), 1);
    for (uint64_t i = 0, e = exponent.getZExtValue(); i < e; ++i)
      power = power * *base;
    return power;
  }

  FailureOr<Expr> parsePrimary() {
    std::string name;
    if (lexer.quoted(name))
      return Expr::symbol(lexer.context(), name);
    if (lexer.consumeLParen()) {
      FailureOr<Expr> sum = parseSum();
      if (succeeded(sum) && !lexer.consumeRParen())
        return lexer.error("expected ')'");
      return sum;
    }
    if (!lexer.keyword(name))
      return lexer.error("expected a size expression");
    if (name == "invalid")
      return Expr::invalid(lexer.context());
    if (lexer.consumeLParen())
      return parseCall(name);
    return Expr::symbol(lexer.context(), name);
  }

  FailureOr<Expr> parseCall(StringRef name) {
    SmallVector<Expr, 4> operands;
    do {
      FailureOr<Expr> operand = parseSum();
      if (failed(operand))
        return failure();
      operands.push_back(*operand);
    } while (lexer.consumeComma());
    if (!lexer.consumeRParen())
      return lexer.error("expected ',' or ')'");

    std::string function = name.lower();
    if (function == "min")
      return freestone::sym::detail::getExtremum(Kind::Min, operands);
    if (function == "max")
      return freestone::sym::detail::getExtremum(Kind::Max, operands);
    if (function == "floor" && operands.size() == 1)
      return operands[0];
    // Torch's CleanDiv: the dividend is known to be a multiple.
    if ((function == "exactdiv" || function == "cleandiv") && operands.size() == 2)
      return operands[0].exactDiv(operands[1]).value_or(Expr::floorDiv(operands[0], operands[1]));
    bool division = function == "floordiv" || function == "ceildiv" || function == "mod" || function == "pythonmod";
    if (division && operands.size() == 2)
      return divide(function, operands[0], operands[1]);
    return lexer.error("no function '" + name + "' of " + Twine(operands.size()) + " operands");
  }

  static Expr divide(StringRef name, Expr dividend, Expr divisor) {
    if (name == "floordiv")
      return Expr::floorDiv(dividend, divisor);
    if (name == "ceildiv")
      return Expr::ceilDiv(dividend, divisor);
    return Expr::mod(dividend, divisor);
  }

  Lexer &lexer;
  unsigned nesting = 0;
};

} // namespace

FailureOr<Expr> freestone::sym::parseExpr(MLIRContext *context, StringRef text, std::string *error) {
  StringLexer lexer(context, text, error);
  FailureOr<Expr> expr = ExprParser<StringLexer>(lexer).parseSum();
  if (succeeded(expr) && !lexer.atEnd())
    return lexer.error("expected the end of the expression");
  return expr;
}

ParseResult freestone::sym::parseExpr(AsmParser &parser, Expr &expr) {
  AsmLexer lexer(parser);
  FailureOr<Expr> parsed = ExprParser<AsmLexer>(lexer).parseSum();
  if (failed(parsed))
    return failure();
  expr = *parsed;
  return success();
}

ParseResult freestone::sym::parseShape(AsmParser &parser, SmallVectorImpl<Expr> &shape) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseExpr(parser, shape.emplace_back()); });
}
