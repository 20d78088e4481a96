#ifndef FREESTONE_COMPILER_EXPRESSIONS_FOLD_H
#define FREESTONE_COMPILER_EXPRESSIONS_FOLD_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/expressions/Element.h"

// Constant folding of elements known during import, as the graph's operators compute them. Nothing if the result is
// unknown, does not fit its type, or is too large an expression.
namespace freestone::expressions {

std::optional<Element> foldUnary(graph::UnaryKind kind, const Element &x, mlir::Type type, const sym::Bounds &bounds);
std::optional<Element> foldBinary(graph::BinaryKind kind, const Element &lhs, const Element &rhs, mlir::Type type,
                                  const sym::Bounds &bounds);
/// 1 or 0, which may itself depend on sizes.
std::optional<Element> foldCompare(graph::CompareKind kind, const Element &lhs, const Element &rhs,
                                   mlir::MLIRContext *context, const sym::Bounds &bounds);
std::optional<Element> foldSelect(const Element &condition, const Element &whenTrue, const Element &whenFalse);
std::optional<Element> foldCast(const Element &x, mlir::Type from, mlir::Type to, const sym::Bounds &bounds);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_FOLD_H
