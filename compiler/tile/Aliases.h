#ifndef FREESTONE_COMPILER_TILE_ALIASES_H
#define FREESTONE_COMPILER_TILE_ALIASES_H

#include "mlir/IR/Value.h"

namespace freestone::tile {

/// Of an operation that updates a tensor: its first result begins as the elements of its first operand, which it does
/// not read otherwise, and lies in that operand's memory once `task-update-in-place` has run.
inline constexpr llvm::StringRef updatesAttr = "updates";
bool isUpdate(mlir::Operation *op);

/// Of the updates that make the next carried value of a loop, longer than the last one: they need no copy, as the
/// memory of what is carried is large enough, and what was there stays as it is until nothing reads it any more.
inline constexpr llvm::StringRef appendsAttr = "appends";
bool isAppend(mlir::Operation *op);

/// Of an argument and a result of a loop's body, which are the same carried value, of one type: its number. Updates of the
/// argument that make the result may lie in its memory.
inline constexpr llvm::StringRef carriedAttr = "tile.carried";

/// The value that this one is in another shape or layout: reshapes and views are free.
mlir::Value getAliased(mlir::Value value);

/// The value whose memory this one is: that in another shape or layout, or before updates.
mlir::Value getMemory(mlir::Value value);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_ALIASES_H
