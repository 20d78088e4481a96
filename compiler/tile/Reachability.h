#ifndef FREESTONE_COMPILER_TILE_REACHABILITY_H
#define FREESTONE_COMPILER_TILE_REACHABILITY_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::tile {

/// Which operations of a block lead to which, by what they read, while some are thought of as one. A bit for each pair:
/// asking takes no walk through the block.
class Reachability {
public:
  explicit Reachability(mlir::Block &block);

  /// Whether a path leads from what `from` is one with, all of which are its `members`, to what `to` is one with, and
  /// through what is neither.
  bool hasDetour(llvm::ArrayRef<mlir::Operation *> members, mlir::Operation *from, mlir::Operation *to) const;
  /// From now on the two, and what they are one with, are one. There must be no detour between them.
  void unite(mlir::Operation *a, mlir::Operation *b);

private:
  unsigned find(mlir::Operation *op) const { return unitOf[numberOf.lookup(op)]; }

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> numberOf;
  /// Of each operation, the number of one that stands for all that it is one with.
  llvm::SmallVector<unsigned> unitOf;
  /// What the unit of this number leads to.
  llvm::SmallVector<llvm::BitVector> reached;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REACHABILITY_H
