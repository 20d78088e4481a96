#ifndef FREESTONE_COMPILER_TILE_REACHABILITY_H
#define FREESTONE_COMPILER_TILE_REACHABILITY_H

#include "compiler/tile/SizeOrder.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::tile {

/// Reachability between the operations of a block by data dependences and sizes, with some operations united into units.
/// One bit for each pair: a query needs no walk through the block.
class Reachability {
public:
  Reachability(mlir::Block &block, const SizeOrder &sizes);

  /// Whether a path leads from the unit of `from`, whose operations are `members`, to the unit of `to` through
  /// operations of neither.
  bool hasDetour(llvm::ArrayRef<mlir::Operation *> members, mlir::Operation *from, mlir::Operation *to) const;
  /// Merges the units of two operations. There must be no detour between them.
  void unite(mlir::Operation *a, mlir::Operation *b);

private:
  unsigned find(mlir::Operation *op) const { return unitOf[numberOf.lookup(op)]; }

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> numberOf;
  /// Of each operation, the representative of its unit.
  llvm::SmallVector<unsigned> unitOf;
  /// The operations that the unit of this number reaches.
  llvm::SmallVector<llvm::BitVector> reached;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_REACHABILITY_H
