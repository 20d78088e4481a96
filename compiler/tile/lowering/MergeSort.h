#ifndef FREESTONE_COMPILER_TILE_LOWERING_MERGESORT_H
#define FREESTONE_COMPILER_TILE_LOWERING_MERGESORT_H

#include "compiler/tile/OpaqueBuilder.h"

namespace freestone::tile {

/// A stable merge sort of positions within one tile: `precedes` decides whether the element at one position comes
/// strictly before that at another. Writes the positions [begin, end) in order to the same range of the result `list`;
/// `other` is scratch for as many. Both are i64.
void emitMergeSort(OpaqueBuilder &body, mlir::Value begin, mlir::Value end, unsigned list, unsigned other,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> precedes);

/// A list of `length` elements in parts, one for each tile.
struct ListParts {
  /// At most 32 parts, of some 4096 elements or more where there are several. The last ones may be empty.
  explicit ListParts(sym::Expr length);

  /// The range of the current tile.
  mlir::Value getBegin(OpaqueBuilder &body) const;
  mlir::Value getEnd(OpaqueBuilder &body) const;

  sym::Expr length, width, tiles;
};

/// Whether the element at position a comes strictly before that at b; the sorted operands are inputs 0, 1, … of `body`.
using PositionOrder = llvm::function_ref<mlir::Value(OpaqueBuilder &body, mlir::Value a, mlir::Value b)>;

/// A stable merge sort by all workers: the positions 0 … length - 1 in order, as i64 [length]. Parts are sorted, then
/// merged in rounds; every tile of a round merges one part of the result, whose beginnings in both lists it finds by
/// binary search.
mlir::Value sortPositions(mlir::OpBuilder &builder, mlir::Location location, sym::Expr length,
                          mlir::ValueRange operands, PositionOrder precedes);

/// The number of elements i of [from, to) for which `holds(i)`, which is true up to some element and false after it.
mlir::Value emitBinarySearch(OpaqueBuilder &body, mlir::Value from, mlir::Value to,
                             llvm::function_ref<mlir::Value(mlir::Value)> holds);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_LOWERING_MERGESORT_H
