#ifndef FREESTONE_COMPILER_EXPRESSIONS_FOLD_H
#define FREESTONE_COMPILER_EXPRESSIONS_FOLD_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Bounds.h"
#include "compiler/expressions/Element.h"

// Arithmetic on elements that are known while building, as the operators of the graph would do it. Nothing where the
// result is not known, does not fit its type, or would be an expression too large to be of use.
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
