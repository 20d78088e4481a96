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
  /// Sorts the block, which has changed: each operation behind those whose results or symbols it uses, otherwise in the
  /// order that they are in. Operations that were moved into others are these. Returns false if there is no such order.
  bool sort(mlir::Block &block) const;

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> users;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_SIZEORDER_H
