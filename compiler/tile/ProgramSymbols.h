#ifndef FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H
#define FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Names the sizes of computes that become one program: s0, s1, … in the order in which they occur. Sizes that only a
/// run brings always get a name; those of contractions, copies, single reductions and elementwise computes in a row one
/// by the part they play, constant or not, so that one program serves all layers and all parameters.
class ProgramSymbols {
public:
  /// `members` read each other at the loops themselves, or pool a convolution. With `generalise` sizes are named by
  /// part.
  ProgramSymbols(llvm::ArrayRef<ComputeOp> members, bool generalise, mlir::MLIRContext *context);

  /// The size as the program has it.
  sym::Expr convert(sym::Expr size);
  /// The extent of a loop, and the shape of a result of a member.
  sym::Expr convertLoop(ComputeOp op, unsigned loop);
  graph::TensorType convertResult(ComputeOp op, unsigned result);
  /// The type of what comes from outside.
  graph::TensorType convertArgument(mlir::Value tensor);

  llvm::ArrayRef<mlir::StringAttr> getNames() const { return names; }
  /// What the symbols stand for outside.
  llvm::ArrayRef<sym::Expr> getSizes() const { return sizes; }

private:
  sym::Expr addSymbol(sym::Expr size);
  void nameLoops(ComputeOp op);
  bool isPooled(ComputeOp op);
  std::optional<sym::Expr> getLoopOver(mlir::Value tensor, unsigned dim);

  mlir::MLIRContext *context;
  llvm::ArrayRef<ComputeOp> members;
  /// Set where the loops are named by part.
  ComputeOp named;
  llvm::SmallVector<sym::Expr> loopSymbols;
  llvm::DenseMap<unsigned, sym::Expr> pooledSymbols;
  llvm::DenseMap<sym::Expr, sym::Expr> symbolOf;
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<sym::Expr> sizes;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H
