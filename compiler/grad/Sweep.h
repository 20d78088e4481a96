#ifndef FREESTONE_COMPILER_GRAD_SWEEP_H
#define FREESTONE_COMPILER_GRAD_SWEEP_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

namespace freestone::grad {

/// A value of a block with its gradient from outside.
struct Seed {
  mlir::Value value, gradient;
};

/// The values on paths from wanted to seeded values, both included: within the block, and captures from outside of it.
llvm::DenseSet<mlir::Value> findActive(mlir::Block &block, llvm::ArrayRef<Seed> seeds,
                                       llvm::ArrayRef<mlir::Value> wanted);

/// Expands operators on these paths without a rule: composites and calls; lets scans keep their states. Updates `seeds` and `wanted` accordingly.
/// Fails with a diagnostic if a call can't be inlined.
llvm::LogicalResult expandPaths(mlir::Block &block, llvm::MutableArrayRef<Seed> seeds,
                                llvm::MutableArrayRef<mlir::Value> wanted);

/// Appends the backward program of a block before its terminator. Returns the gradients of `wanted` values, which may
/// be defined outside of the block; null where they are 0.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> sweep(mlir::Block &block, llvm::ArrayRef<Seed> seeds,
                                                      llvm::ArrayRef<mlir::Value> wanted);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_SWEEP_H
