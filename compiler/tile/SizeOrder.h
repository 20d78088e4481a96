#ifndef FREESTONE_COMPILER_TILE_SIZEORDER_H
#define FREESTONE_COMPILER_TILE_SIZEORDER_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::tile {

/// The order between operations that bind or compare symbols and those behind them whose sizes depend on these: no
/// value leads from one to the other.
class SizeOrder {
public:
  explicit SizeOrder(mlir::Block &block);

  /// The operations that must come behind `binder`.
  llvm::ArrayRef<mlir::Operation *> getUsers(mlir::Operation *binder) const;
  /// Sorts the block, which has changed: operations stay in their order, each right behind those of its producers, and
  /// of those that bind or compare its symbols, that came later. Operations that were moved into others are these.
  /// Returns false if there is no such order.
  bool sort(mlir::Block &block) const;

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> users;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SIZEORDER_H
