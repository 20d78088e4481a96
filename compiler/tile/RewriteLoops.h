#ifndef FREESTONE_COMPILER_TILE_REWRITELOOPS_H
#define FREESTONE_COMPILER_TILE_REWRITELOOPS_H

#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/ComputeBuilder.h"

namespace freestone::tile {

// Functions that build a compute leave the given one in place; if they fail, they build nothing.

/// Copies the body of `op` into a compute under construction: `loops` are its loops in the new space. Returns the
/// yielded values.
llvm::SmallVector<mlir::Value> cloneBody(ComputeBody &body, ComputeOp op, mlir::ValueRange inputs,
                                         mlir::ValueRange accumulators, mlir::ValueRange tables,
                                         llvm::ArrayRef<sym::Expr> loops);

/// Builds the compute of `builder` with the body of `op`; `inputs` and `tables` are the numbers of its operands in
/// `builder`.
mlir::FailureOr<ComputeOp> createWithBody(ComputeBuilder &builder, ComputeOp op, llvm::ArrayRef<unsigned> inputs,
                                          llvm::ArrayRef<unsigned> tables, llvm::ArrayRef<sym::Expr> loops);

/// A tensor with the compute that produces it, seen through reshapes.
struct ProducedTensor {
  ComputeOp op;
  unsigned result;
  /// The reshapes in between, the last applied first.
  llvm::SmallVector<mlir::Operation *> reshapes;
};
std::optional<ProducedTensor> getProducer(mlir::Value tensor);

/// The permutation of a transposition: its loop i is dimension `order[i]` of its operand, all of it. Nothing for other
/// computes.
std::optional<llvm::SmallVector<unsigned>> getOrder(ComputeOp copy);

/// The consumer with its operand `input` replaced by the producer's body; the producer must be a map. Reads that are
/// filled where they leave the operand go through transpositions, and through maps that make a piece of a map's rows.
mlir::FailureOr<ComputeOp> inlineProducer(mlir::OpBuilder &builder, ComputeOp consumer, unsigned input,
                                          const ProducedTensor &producer, const sym::Bounds &sizes);

/// The consumer with its reads of table `table` replaced by the body of the map that makes it, at the positions read.
/// Fails unless that map reads nothing but tables, and no position is out of bounds.
mlir::FailureOr<ComputeOp> inlineTable(mlir::OpBuilder &builder, ComputeOp consumer, unsigned table);

/// The compute with permuted parallel loops: loop i of the new compute is loop `order[i]` of the old one.
mlir::FailureOr<ComputeOp> permuteLoops(mlir::OpBuilder &builder, ComputeOp op, llvm::ArrayRef<unsigned> order);

/// Whether reads stay contiguous if `order` permutes the parallel loops. Reductions and gathers of rows should keep
/// their order where it reads along memory: transposing the results is cheaper than strided reads. Windows in registers
/// keep their pixels innermost. Always true for other contractions, which pack their operands from any order.
bool readsAlongMemory(ComputeOp op, llvm::ArrayRef<unsigned> order);

/// A map with loops over another shape of the same elements; operands that are read at all loops, and results, are
/// reshaped. Fails where the indices of other operands do not stay linear.
mlir::FailureOr<ComputeOp> reshapeLoops(mlir::OpBuilder &builder, ComputeOp op, llvm::ArrayRef<sym::Expr> shape,
                                        const sym::Bounds &sizes);

/// The tensor reshaped, or itself if it has the shape already.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor,
                      llvm::ArrayRef<sym::Expr> shape);

/// The known bounds of symbols of the function around an operation.
sym::Bounds getSizeBounds(mlir::Operation *op);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REWRITELOOPS_H
