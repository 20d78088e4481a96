#include "compiler/dialect/sym/ExprStorage.h"
#include "compiler/dialect/sym/Syntax.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace freestone::sym;
using namespace freestone::sym::detail;

namespace {

/// A readable form of some terms of a sum: coefficient times `x mod c`, `x ceildiv c` or `max(a, b)`. Parsing it gives
/// the canonical terms again.
struct Idiom {
  int64_t coefficient;
  StringRef name;
  Expr lhs, rhs;
};

class ExprPrinter {
public:
  explicit ExprPrinter(llvm::raw_ostream &os) : os(os) {}

  void printSum(Expr expr);

private:
  void printTerm(const Term &term);
  void printAtom(Expr atom);
  void printCall(StringRef name, ArrayRef<Expr> operands);
  void printInfix(StringRef name, Expr lhs, Expr rhs);
  void printOperand(Expr expr);
  void printName(StringRef name);
  /// Prints the sign between two parts, or before the first; returns the magnitude.
  std::string printSign(int64_t value);
  /// Prints sign and coefficient of a part; true if the coefficient is printed alone, as for constants.
  bool printCoefficient(int64_t coefficient);

  llvm::raw_ostream &os;
  bool first = true;
};

} // namespace

static size_t countTerms(Expr expr) { return expr.terms().size(); }

/// Moves `idiom` out of `sum` if that makes the sum shorter.
static bool extract(Expr &sum, Idiom idiom, Expr value, SmallVectorImpl<Idiom> &idioms) {
  Expr rest = sum - value * idiom.coefficient;
  if (rest.isInvalid() || countTerms(rest) + 1 >= countTerms(sum))
    return false;
  sum = rest;
  idioms.push_back(idiom);
  return true;
}

/// Moves one idiom from the sum to `idioms`; false if there is none.
static bool extractOne(Expr &sum, SmallVectorImpl<Idiom> &idioms) {
  for (const Term &term : sum.terms()) {
    auto multiple = asMultipleOfAtom(term);
    if (!multiple || multiple->first >= 0 || multiple->first == std::numeric_limits<int64_t>::min())
      continue;
    int64_t coefficient = -multiple->first;
    Expr atom = multiple->second;
    if (atom.kind() == Kind::Min && atom.operands().size() == 2) {
      Expr lhs = atom.operands()[0], rhs = atom.operands()[1];
      if (extract(sum, {coefficient, "max", lhs, rhs}, Expr::max(lhs, rhs), idioms))
        return true;
    }
    auto division = asConstantDivision(atom);
    if (!division)
      continue;
    auto [dividend, divisor] = *division;
    Expr constant = Expr::constant(sum.context(), divisor);
    if (coefficient % divisor == 0 &&
        extract(sum, {coefficient / divisor, "mod", dividend, constant}, Expr::mod(dividend, divisor), idioms))
      return true;
    // -(x floordiv c) is (-x) ceildiv c; its sign is absorbed by the products of x.
    SmallVector<Term, 8> mirrored;
    for (const Term &inner : dividend.terms())
      mirrored.push_back({inner.factors.empty() ? -inner.coefficient : divisor - inner.coefficient, inner.factors});
    Expr positive = getSum(sum.context(), mirrored);
    if (extract(sum, {coefficient, "ceildiv", positive, constant}, Expr::ceilDiv(positive, divisor), idioms))
      return true;
  }
  return false;
}

void ExprPrinter::printSum(Expr expr) {
  if (expr.isInvalid()) {
    os << "invalid";
    return;
  }
  if (expr.isConstant(0)) {
    os << "0";
    return;
  }
  SmallVector<Idiom, 2> idioms;
  while (extractOne(expr, idioms))
    ;
  for (const Idiom &idiom : idioms) {
    bool alone = printCoefficient(idiom.coefficient);
    if (idiom.name == "max") {
      printCall(idiom.name, {idiom.lhs, idiom.rhs});
      continue;
    }
    os << (alone ? "" : "(");
    printInfix(idiom.name, idiom.lhs, idiom.rhs);
    os << (alone ? "" : ")");
  }
  for (const Term &term : expr.terms())
    printTerm(term);
}

std::string ExprPrinter::printSign(int64_t value) {
  bool leading = std::exchange(first, false);
  // INT64_MIN has no magnitude that could be parsed after a minus.
  bool minus = value < 0 && value != std::numeric_limits<int64_t>::min();
  if (leading)
    os << (minus ? "-" : "");
  else
    os << (minus ? " - " : " + ");
  return std::to_string(minus ? -value : value);
}

bool ExprPrinter::printCoefficient(int64_t coefficient) {
  bool leading = first;
  std::string magnitude = printSign(coefficient);
  if (magnitude != "1")
    os << magnitude << "*";
  return magnitude == "1" && !(leading && coefficient < 0);
}

void ExprPrinter::printTerm(const Term &term) {
  if (term.factors.empty()) {
    os << printSign(term.coefficient);
    return;
  }

  bool alone = printCoefficient(term.coefficient) && term.factors.size() == 1 && term.factors.front().power == 1;
  llvm::ListSeparator star("*");
  for (const Factor &factor : term.factors) {
    Kind kind = factor.atom.kind();
    bool bare = alone || kind == Kind::Symbol || kind == Kind::Min || kind == Kind::Max;
    for (unsigned i = 0; i < factor.power; ++i) {
      os << star << (bare ? "" : "(");
      printAtom(factor.atom);
      os << (bare ? "" : ")");
    }
  }
}

void ExprPrinter::printAtom(Expr atom) {
  switch (atom.kind()) {
  case Kind::Symbol:
    return printName(*atom.asSymbol());
  case Kind::Min:
    return printCall("min", atom.operands());
  case Kind::Max:
    return printCall("max", atom.operands());
  case Kind::CeilDiv:
    return printInfix("ceildiv", atom.operands()[0], atom.operands()[1]);
  default:
    break;
  }
  // floor((x + c - 1) / c) is a division rounded up.
  auto division = asConstantDivision(atom);
  if (division && division->dividend.constantTerm() == division->divisor - 1)
    return printInfix("ceildiv", division->dividend - (division->divisor - 1), atom.operands()[1]);
  printInfix("floordiv", atom.operands()[0], atom.operands()[1]);
}

void ExprPrinter::printCall(StringRef name, ArrayRef<Expr> operands) {
  os << name << "(";
  llvm::ListSeparator comma;
  for (Expr operand : operands) {
    os << comma;
    ExprPrinter(os).printSum(operand);
  }
  os << ")";
}

void ExprPrinter::printInfix(StringRef name, Expr lhs, Expr rhs) {
  printOperand(lhs);
  os << " " << name << " ";
  printOperand(rhs);
}

void ExprPrinter::printOperand(Expr expr) {
  Kind kind = expr.kind();
  bool bare = expr.isConstant() || kind == Kind::Symbol || kind == Kind::Min || kind == Kind::Max;
  os << (bare ? "" : "(");
  ExprPrinter(os).printSum(expr);
  os << (bare ? "" : ")");
}

/// Words that the parsers do not read as symbols.
static bool isReserved(StringRef name) {
  return llvm::is_contained({"floordiv", "ceildiv", "mod", "invalid", "true", "false"}, name);
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_') &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
}

void ExprPrinter::printName(StringRef name) {
  if (isIdentifier(name) && !isReserved(name)) {
    os << name;
    return;
  }
  os << '"';
  llvm::printEscapedString(name, os);
  os << '"';
}

void Expr::print(llvm::raw_ostream &os) const {
  if (!impl)
    os << "<<null>>";
  else
    ExprPrinter(os).printSum(*this);
}

std::string Expr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

void freestone::sym::printExpr(AsmPrinter &printer, Expr expr) { expr.print(printer.getStream()); }

void freestone::sym::printShape(AsmPrinter &printer, ArrayRef<Expr> shape) {
  printer << "[";
  llvm::interleaveComma(shape, printer.getStream(), [&](Expr size) { size.print(printer.getStream()); });
  printer << "]";
}
