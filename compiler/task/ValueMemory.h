#ifndef FREESTONE_COMPILER_TASK_VALUEMEMORY_H
#define FREESTONE_COMPILER_TASK_VALUEMEMORY_H

#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Aliases.h"
#include "mlir/IR/Builders.h"
#include <optional>

namespace freestone::task {

/// Attributes of arguments and results: the state that an argument holds and a result replaces; and the weight that
/// holds its first value.
inline constexpr llvm::StringRef stateAttr = "graph.state";
inline constexpr llvm::StringRef initialAttr = "graph.initial";
/// Of an argument and a result of a loop's body: the number of the carried value that they are, where it may lie in one
/// place in all iterations.
inline constexpr llvm::StringRef carriedAttr = tile::carriedAttr;
/// Of a packed state: [axis, width] (see tile's PanelsAttr).
inline constexpr llvm::StringRef panelsAttr = "tile.panels";
/// Of a branch (see KeptOperand); and of the result of the side that returns the operand: nothing copies it.
inline constexpr llvm::StringRef keepsAttr = "task.keeps";
inline constexpr llvm::StringRef keptAttr = "task.kept";

using tile::getMemory;

/// A captured value of a branch that one of its sides returns unchanged, and that nothing reads behind the branch: it
/// stays where it is, and the other side writes the result elsewhere.
struct KeptOperand {
  unsigned result, captured;
  /// Whether it is the first side that returns it.
  bool isThen;
};
std::optional<KeptOperand> getKept(tile::BranchOp branch);
void setKept(tile::BranchOp branch, KeptOperand kept);

/// Whether an operation of the function computes the value; false for arguments, weights and constants.
bool isComputed(mlir::Value value);

/// The operations of a block that read a value, under another shape or layout too.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value, mlir::Block &block);

/// The last reader of a value in the block of `least`; `least` itself if no reader comes after it.
mlir::Operation *getLastReader(mlir::Value value, mlir::Operation *least);

/// Whether an operation up to `last`, which comes after `op`, reads a result of `op`.
bool isReadUntil(mlir::Operation *last, mlir::Operation *op);

/// Moves an operation behind `last`, together with the aliases of its results.
void moveBehind(mlir::Operation *op, mlir::Operation *last);

/// The same elements in memory of their own.
mlir::Value copyValue(mlir::OpBuilder &builder, mlir::Value value);

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_VALUEMEMORY_H
