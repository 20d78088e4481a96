#ifndef FREESTONE_COMPILER_TILE_RECOMPUTE_H
#define FREESTONE_COMPILER_TILE_RECOMPUTE_H

#include "compiler/tile/Connect.h"
#include "compiler/tile/ConnectedForm.h"

namespace freestone::tile {

/// Intermediates of a connection, computed once more for readers that run after it, from its operands and its values of
/// each row: an attention's weights for its backward pass (Dao et al., "FlashAttention").
class Recomputation {
public:
  /// `members` are the connection's; `form` is theirs.
  Recomputation(llvm::ArrayRef<ComputeOp> members, const ConnectedForm &form, const Axes &axes);

  /// Lets the uses, at least one, read copies of the intermediates. Positions that are masked by a low number are
  /// masked by -inf in the copies, where each row has one that is not: their exponentials are then 0 whatever the row's
  /// maximum.
  void replace(llvm::ArrayRef<mlir::OpOperand *> uses);
  void undo();
  /// The copies that the uses read.
  llvm::SmallVector<mlir::Value> getCopies() const {
    return llvm::map_to_vector(replaced, [&](const auto &each) { return each.first->get(); });
  }

  /// The copies, in order, and computes of values of each row that belong to the connection now.
  Members copies, exported;

private:
  mlir::Value getCopy(mlir::Value value);
  mlir::Value getExported(mlir::Value value);
  void maskByInfinity(ComputeOp copy);

  llvm::ArrayRef<ComputeOp> members;
  const ConnectedForm &form;
  const Axes &axes;
  mlir::OpBuilder builder;
  bool areRowsSeen;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
  llvm::SmallVector<std::pair<mlir::OpOperand *, mlir::Value>> replaced;
};

/// The compute that copies a tensor, behind its producer.
ComputeOp makeIdentity(mlir::OpBuilder &builder, mlir::Value tensor);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_RECOMPUTE_H
