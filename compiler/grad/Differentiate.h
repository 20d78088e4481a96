#ifndef FREESTONE_COMPILER_GRAD_DIFFERENTIATE_H
#define FREESTONE_COMPILER_GRAD_DIFFERENTIATE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace freestone::grad {

/// Reverse-mode differentiation of a function of the graph level: appends, before the terminator of the block that
/// `loss` is in, the operators that compute the gradients of `loss` with respect to the `wanted` values, and returns
/// those gradients in the same order and of the same types.
///
/// `loss` is a float of rank 0. `wanted` are floats of the same block: arguments, results of `graph.weight` (all
/// weights of one name are one), or any other value. `seed`, where given, is the gradient that the loss itself has (a
/// loss scale): of its type, and defined in the block; else it is 1.
///
/// Only what lies on a path from a wanted value to the loss is differentiated. A wanted value without such a path has
/// the gradient 0, a constant. Composites on a path that have no rule of their own are decomposed, calls are inlined.
/// Kinks are resolved as PyTorch does; see the README. Where an operator on a path has no gradient, fails with a
/// diagnostic at that operator, which names it, the reason and what to do; the function may then be left changed, but
/// legal.
///
/// The appended program is one of the graph level like any other: it may be differentiated again.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> differentiate(mlir::Value loss, llvm::ArrayRef<mlir::Value> wanted,
                                                              mlir::Value seed = {});

/// On a function: the backward passes of its scans and loops compute products again, so that of each iteration only the
/// carried values are kept.
inline constexpr llvm::StringLiteral recomputesAttr = "grad.recomputes";

/// Whether a value can have a gradient: its elements are floats.
bool isDifferentiable(mlir::Value value);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_DIFFERENTIATE_H
