#ifndef FREESTONE_COMPILER_TILE_LOWERING_LINES_H
#define FREESTONE_COMPILER_TILE_LOWERING_LINES_H

#include "compiler/tile/OpaqueBuilder.h"

namespace freestone::tile {

/// The lines of a tensor along an axis: `getCount()` of them, each of `length` elements that stand `inner` apart.
struct Lines {
  Lines(graph::TensorType type, int64_t axis);

  sym::Expr getCount() const { return outer * inner; }
  /// Where a line begins in a tensor whose lines have `length` elements.
  mlir::Value getBegin(OpaqueBuilder &body, mlir::Value line, sym::Expr length) const;

  sym::Expr outer, length, inner;
};

/// Sorts positions by merging ever longer runs of them, which is stable: `precedes` says whether what one of two
/// positions stands for comes strictly before what the other one stands for. The positions 0 … length - 1 are written
/// to the result `list`, in order; `other` is room for as many. Both are i64.
void emitMergeSort(OpaqueBuilder &body, mlir::Value length, unsigned list, unsigned other,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> precedes);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_LINES_H
