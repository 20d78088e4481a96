#ifndef FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_H
#define FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_H

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/Expr.h"
#include "compiler/dialect/sym/Syntax.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "compiler/dialect/sym/SymDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sym/SymAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/sym/SymTypes.h.inc"

namespace mlir {

/// Lets `Expr` be a bare-printed parameter of attributes and types of other dialects.
template <> struct FieldParser<freestone::sym::Expr> {
  static FailureOr<freestone::sym::Expr> parse(AsmParser &parser) {
    freestone::sym::Expr expr;
    if (failed(freestone::sym::parseExpr(parser, expr)))
      return failure();
    return expr;
  }
};

/// Lets an `AttrTypeReplacer` of `ExprAttr` reach the expressions inside such attributes and types.
template <> struct AttrTypeSubElementHandler<freestone::sym::Expr> {
  static void walk(freestone::sym::Expr expr, AttrTypeImmediateSubElementWalker &walker) { walker.walk(expr.attr()); }
  static freestone::sym::Expr replace(freestone::sym::Expr expr, AttrSubElementReplacements &attributes,
                                      TypeSubElementReplacements &types) {
    return freestone::sym::Expr(cast<freestone::sym::ExprAttr>(attributes.take_front(1)[0]));
  }
};

} // namespace mlir

#endif // FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_H
