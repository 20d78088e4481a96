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
