#ifndef FREESTONE_COMPILER_GRAD_SWEEP_H
#define FREESTONE_COMPILER_GRAD_SWEEP_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

namespace freestone::grad {

/// A value of a block and the gradient that comes to it from outside.
struct Seed {
  mlir::Value value, gradient;
};

/// The values on paths from what is wanted to what is seeded, both included: within the block, and what its operators
/// use from outside of it.
llvm::DenseSet<mlir::Value> findActive(mlir::Block &block, llvm::ArrayRef<Seed> seeds,
                                       llvm::ArrayRef<mlir::Value> wanted);

/// Replaces operators on these paths that have no rule by what they are made of: composites and calls. What was
/// replaced is replaced in `seeds` and `wanted` too. Fails, with a diagnostic, where a call can't be.
llvm::LogicalResult expandPaths(mlir::Block &block, llvm::MutableArrayRef<Seed> seeds,
                                llvm::MutableArrayRef<mlir::Value> wanted);

/// Appends the backward program of a block before its terminator; the gradients of what is wanted, which may be defined
/// outside of the block. Null where they are 0.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> sweep(mlir::Block &block, llvm::ArrayRef<Seed> seeds,
                                                      llvm::ArrayRef<mlir::Value> wanted);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_SWEEP_H
