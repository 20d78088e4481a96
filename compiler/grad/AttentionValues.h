#ifndef FREESTONE_COMPILER_GRAD_ATTENTIONVALUES_H
#define FREESTONE_COMPILER_GRAD_ATTENTIONVALUES_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::grad {

/// The values of products around a softmax. If one of them were computed again, it would be another tensor in the
/// gradients' products than in those before, with which they could not be connected: the scores would lie in memory.
struct AttentionValues {
  llvm::DenseSet<mlir::Value> operands; ///< queries, keys and values
  llvm::DenseSet<mlir::Value> between;  ///< scores, what is computed of them, and what that reads, such as masks
};

/// `operators` are those of the forward pass.
AttentionValues findAttentionValues(const llvm::SetVector<mlir::Operation *> &operators);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_ATTENTIONVALUES_H
