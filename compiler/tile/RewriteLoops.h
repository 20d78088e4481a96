#ifndef FREESTONE_COMPILER_TILE_REWRITELOOPS_H
#define FREESTONE_COMPILER_TILE_REWRITELOOPS_H

#include "compiler/tile/ComputeBuilder.h"
#include "compiler/plan/IndexMaps.h"

namespace freestone::tile {

// Functions that make a compute leave the one given in place, or fail and make nothing.

/// Copies the body of `op` into one that is being made: `loops` are its loops in the new space. Returns what it yields.
llvm::SmallVector<mlir::Value> cloneBody(ComputeBody &body, ComputeOp op, mlir::ValueRange inputs,
                                         mlir::ValueRange accumulators, mlir::ValueRange tables,
                                         llvm::ArrayRef<sym::Expr> loops);

/// Makes the compute of `builder` with the body of `op`, whose inputs and tables were read under these numbers.
mlir::FailureOr<ComputeOp> createWithBody(ComputeBuilder &builder, ComputeOp op, llvm::ArrayRef<unsigned> inputs,
                                          llvm::ArrayRef<unsigned> tables, llvm::ArrayRef<sym::Expr> loops);

/// A tensor as a compute's result, looked for through reshapes.
struct ProducedTensor {
  ComputeOp op;
  unsigned result;
  /// The reshapes between, the last applied first.
  llvm::SmallVector<mlir::Operation *> reshapes;
};
std::optional<ProducedTensor> getProducer(mlir::Value tensor);
/// A tensor before all reshapes of it.
mlir::Value getReshapeSource(mlir::Value tensor);

/// The consumer with the producer's body in the place of its operand `input`: the producer must be a map.
mlir::FailureOr<ComputeOp> inlineProducer(mlir::OpBuilder &builder, ComputeOp consumer, unsigned input,
                                          const ProducedTensor &producer, const sym::Bounds &sizes);

/// The compute with its parallel loops in another order: loop i of the new one is loop `order[i]` of the old one.
mlir::FailureOr<ComputeOp> permuteLoops(mlir::OpBuilder &builder, ComputeOp op, llvm::ArrayRef<unsigned> order);

/// Whether neighbouring results still read neighbours in memory then. Where they would not any more, and more is read
/// than written or data choose the rows that are read, it is results that are better transposed. Sums of products are
/// packed, in any order.
bool readsAlongMemory(ComputeOp op, llvm::ArrayRef<unsigned> order);

/// A map with loops over another shape of the same elements; operands that are read at all loops are reshaped with it.
/// Its results have the new shape. Fails where other operands' indices do not stay linear.
mlir::FailureOr<ComputeOp> reshapeLoops(mlir::OpBuilder &builder, ComputeOp op, llvm::ArrayRef<sym::Expr> shape,
                                        const sym::Bounds &sizes);

/// The tensor in another shape, or itself where it has it.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor,
                      llvm::ArrayRef<sym::Expr> shape);

/// What is known of the symbols of the function that an operation stands in.
sym::Bounds getSizeBounds(mlir::Operation *op);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REWRITELOOPS_H
