#ifndef FREESTONE_COMPILER_TILE_PACKEDOPERAND_H
#define FREESTONE_COMPILER_TILE_PACKEDOPERAND_H

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// The dimensions of a packed operand as loops in order, and the dimension that is split into panels.
struct PackedOrder {
  llvm::SmallVector<unsigned> loops;
  unsigned batch;
  unsigned axis;

  /// Batch loops, then `free` before or after the reduction loops.
  static PackedOrder get(ComputeOp op, unsigned input, const ContractionDims &dims, unsigned free, bool freeFirst);
};

/// A packed operand: its shape, and where its elements are in the plain one.
struct PackedShape {
  llvm::SmallVector<sym::Expr> shape, indices;
};

/// Nothing where a size is known to a run alone.
std::optional<PackedShape> getPackedShape(ComputeOp op, unsigned input, const PackedOrder &order);

/// Lets a compute read a packed operand, whose dimensions are its loops in order.
void readPacked(ComputeOp op, unsigned input, const PackedOrder &order, mlir::Value packing);

/// Packs an operand in this type, whose layout may be null: only the order changes then. Of a weight this is to be
/// hoisted to @init; what the run brings is packed right before its first use, `user`. Null where that is impossible.
mlir::Value makePacking(ComputeOp user, mlir::Value source, llvm::ArrayRef<sym::Expr> indices, graph::TensorType type);

/// Panels of what a loop captures, before it. A transposition is merged with the packing.
mlir::Value packBefore(LoopOp loop, mlir::Value source, const PackedShape &packed, PanelsAttr layout);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_PACKEDOPERAND_H
