#ifndef FREESTONE_COMPILER_GRAD_ATTENTIONOPERANDS_H
#define FREESTONE_COMPILER_GRAD_ATTENTIONOPERANDS_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::grad {

/// What the products around a softmax read: queries, keys and values. If one of them were computed again, it would be
/// another tensor in the gradients' products than in those before, with which they could not be connected: the scores
/// would lie in memory. `operators` are those of the forward pass.
llvm::DenseSet<mlir::Value> findAttentionOperands(const llvm::SetVector<mlir::Operation *> &operators);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_ATTENTIONOPERANDS_H
