#ifndef FREESTONE_COMPILER_TILE_LOWERING_INDEXPIECES_H
#define FREESTONE_COMPILER_TILE_LOWERING_INDEXPIECES_H

#include "compiler/tile/ComputeBuilder.h"

namespace freestone::tile {

/// A piece of a table of constant indices: those before `end` that follow the piece before it are
/// (position floordiv times) * step + offset.
struct IndexPiece {
  int64_t end, step, offset, times;

  sym::Expr getIndex(sym::Expr position) const;
};

/// The few pieces of a gather's constant indices along one axis, all within it: such as the edge, the inside and the
/// other edge of a picture that is padded by reflection. Nothing for other gathers.
std::optional<llvm::SmallVector<IndexPiece>> getIndexPieces(graph::GatherOp op);

/// The index at the position of a loop: a choice between the pieces, by comparing the position with their ends.
mlir::Value emitIndex(ComputeBody &body, unsigned loop, llvm::ArrayRef<IndexPiece> pieces);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_INDEXPIECES_H
