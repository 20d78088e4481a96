#ifndef FREESTONE_COMPILER_GRAD_GROWINGSTATES_H
#define FREESTONE_COMPILER_GRAD_GROWINGSTATES_H

#include "compiler/expressions/Tensor.h"

namespace freestone::grad {

/// Whether sizes in a loop follow the number of its iteration.
bool isGrowing(graph::WhileOp op);

/// Whether the loop collects, last, what its gradient needs of each iteration.
bool keepsGrowingStates(graph::WhileOp op);

/// The same loop that does, before `op`, whose results are its first ones. What it collects has the greatest sizes of
/// any iteration, with zeros behind. Fails with a diagnostic where the number of iterations has no limit, or sizes
/// depend on data.
llvm::FailureOr<graph::WhileOp> keepGrowingStates(graph::WhileOp op);

/// The number of results but for those that are kept for the gradient.
size_t getNumGiven(graph::WhileOp op);

/// With what iteration `trip` of a loop that keeps its states began: the carried values, then its costly values.
/// Tensors of `builder`, which stands behind the loop.
llvm::SmallVector<expressions::Tensor> restoreIteration(expressions::GraphBuilder &builder, graph::WhileOp op,
                                                        sym::Expr trip);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_GROWINGSTATES_H
