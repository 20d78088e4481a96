#ifndef FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H
#define FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H

#include "compiler/dialect/tile/TileDialect.h"

namespace freestone::tile {

/// Names the sizes of computes that become one program: s0, s1, … in order of appearance. Run-time sizes always get a
/// name. Sizes of contractions, copies, single reductions and contiguous elementwise computes are named by their role,
/// even constant ones, so that one program serves all layers and all parameters.
class ProgramSymbols {
public:
  /// `members` read each other at the loops themselves, or pool a convolution. With `generalise` sizes are named by
  /// role.
  ProgramSymbols(llvm::ArrayRef<ComputeOp> members, bool generalise, mlir::MLIRContext *context);

  /// The size in symbols of the program.
  sym::Expr convert(sym::Expr size);
  /// The extent of a loop, and the shape of a member's result, in symbols of the program.
  sym::Expr convertLoop(ComputeOp op, unsigned loop);
  graph::TensorType convertResult(ComputeOp op, unsigned result);
  /// The type of an outside tensor in symbols of the program.
  graph::TensorType convertArgument(mlir::Value tensor);

  llvm::ArrayRef<mlir::StringAttr> getNames() const { return names; }
  /// The outside values of the symbols.
  llvm::ArrayRef<sym::Expr> getSizes() const { return sizes; }

private:
  sym::Expr addSymbol(sym::Expr size);
  void nameLoops(ComputeOp op);
  bool isPooled(ComputeOp op);
  std::optional<sym::Expr> getLoopOver(mlir::Value tensor, unsigned dim);

  mlir::MLIRContext *context;
  llvm::ArrayRef<ComputeOp> members;
  /// Set if the loops are named by role.
  ComputeOp named;
  /// Whether it is a contraction whose epilogue reads slices of its columns.
  bool hasSlices = false;
  llvm::SmallVector<sym::Expr> loopSymbols;
  llvm::DenseMap<unsigned, sym::Expr> pooledSymbols;
  llvm::DenseMap<sym::Expr, sym::Expr> symbolOf;
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<sym::Expr> sizes;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_TILE_PROGRAMSYMBOLS_H
