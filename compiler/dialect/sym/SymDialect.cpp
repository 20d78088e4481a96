#include "compiler/dialect/sym/SymDialect.h"
#include "compiler/dialect/sym/ExprStorage.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone::sym;

#include "compiler/dialect/sym/SymDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sym/SymAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/sym/SymTypes.cpp.inc"

void SymDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/sym/SymAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/sym/SymTypes.cpp.inc"
      >();
}

ExprAttr ExprAttr::getCanonical(MLIRContext *context, Kind kind, StringAttr name, ArrayRef<Expr> operands,
                                ArrayRef<Term> terms) {
  return Base::get(context, kind, name, operands, terms);
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  Expr expr;
  if (parser.parseLess() || parseExpr(parser, expr) || parser.parseGreater())
    return {};
  return expr.attr();
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printExpr(printer, getExpr());
  printer << ">";
}

/// `-inf`, `inf` or an integer.
static ParseResult parseEnd(AsmParser &parser, int64_t &end) {
  bool negative = succeeded(parser.parseOptionalMinus());
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    end = negative ? Interval::minusInfinity : Interval::plusInfinity;
    return success();
  }
  if (parser.parseInteger(end))
    return failure();
  end = negative ? -end : end;
  return success();
}

static void printEnd(AsmPrinter &printer, int64_t end) {
  if (end == Interval::minusInfinity || end == Interval::plusInfinity)
    printer << (end < 0 ? "-inf" : "inf");
  else
    printer << end;
}

Attribute SymbolBoundsAttr::parse(AsmParser &parser, Type) {
  int64_t lo = 0, hi = 0, multipleOf = 1;
  std::optional<int64_t> hint;
  if (parser.parseLess() || parser.parseLSquare() || parseEnd(parser, lo) || parser.parseComma() ||
      parseEnd(parser, hi) || parser.parseRSquare())
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    bool isHint = succeeded(parser.parseOptionalKeyword("hint"));
    if (!isHint && parser.parseKeyword("multiple_of", " or 'hint'"))
      return {};
    if (parser.parseInteger(isHint ? hint.emplace() : multipleOf))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()); };
  return getChecked(emitError, parser.getContext(), lo, hi, multipleOf, hint);
}

void SymbolBoundsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  printEnd(printer, getLo());
  printer << ", ";
  printEnd(printer, getHi());
  printer << "]";
  if (getMultipleOf() != 1)
    printer << ", multiple_of " << getMultipleOf();
  if (getHint())
    printer << ", hint " << *getHint();
  printer << ">";
}

LogicalResult SymbolBoundsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t lo, int64_t hi,
                                       int64_t multipleOf, std::optional<int64_t> hint) {
  if (lo > hi)
    return emitError() << "bounds [" << lo << ", " << hi << "] hold no value";
  if (multipleOf < 1)
    return emitError() << "multiple_of must be at least 1, not " << multipleOf;
  if (hint && (*hint < lo || *hint > hi || *hint % multipleOf != 0))
    return emitError() << "hint " << *hint << " is not within the bounds";
  return success();
}
