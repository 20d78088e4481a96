#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_AXISVALUES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_AXISVALUES_H

#include "compiler/import/Node.h"

// Axes that are an input of the model, and so known only at run time. Only sizes depend on them: a reduced axis becomes
// one of size n beside one of size 1, a kept axis the other way around, and both are the same program.
namespace freestone::importer {

/// For each axis of a tensor of this rank 1 where it is among `axes` (distinct, negative ones count from the end), else
/// 0. Sees to it that all of `axes` exist; nothing where the node is refused.
std::optional<Shape> chosenAxes(Node &node, llvm::ArrayRef<Expr> axes, int64_t rank);

/// For each axis of a tensor of this rank the one of `values` that stands beside it in `axes`; `otherwise` where it is
/// not there.
Shape valuesByAxis(Node &node, llvm::ArrayRef<Expr> axes, llvm::ArrayRef<Expr> values, llvm::ArrayRef<Expr> otherwise);

/// x with every axis i split into [kept, chosen], one of which is 1.
Tensor splitAxes(Node &node, Tensor x, llvm::ArrayRef<Expr> chosen);

/// The sizes of `shape` that are not chosen, in order; `count` are chosen.
Shape withoutChosen(Node &node, llvm::ArrayRef<Expr> shape, llvm::ArrayRef<Expr> chosen, int64_t count);

/// x in the shape [before the axis, the axis, behind the axis].
Tensor aroundAxis(Node &node, Tensor x, Expr axis);

Tensor squeezeChosen(Node &node, Tensor x, llvm::ArrayRef<Expr> axes);
Tensor unsqueezeChosen(Node &node, Tensor x, llvm::ArrayRef<Expr> axes);

/// 1 where the expression has this value, else 0.
Expr isValue(Expr expr, int64_t value);
/// 1 where the expression is negative, else 0.
Expr isNegative(Expr expr);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_AXISVALUES_H
