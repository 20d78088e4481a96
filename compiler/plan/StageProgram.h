#ifndef FREESTONE_COMPILER_PLAN_STAGEPROGRAM_H
#define FREESTONE_COMPILER_PLAN_STAGEPROGRAM_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace freestone::tile {

/// The program that computes a part of a stage for one tile of a program that has several, such as a chain. It stands
/// in no module.
struct StageProgram {
  mlir::OwningOpRef<ProgramOp> program;
  /// What its arguments and results are in the program around it: arguments, intermediates, results.
  llvm::SmallVector<mlir::Value> arguments, results;

  /// Makes `program`: stage `number` of `around`, with the computes of `body`, over the symbols of that and further
  /// ones.
  void make(ProgramOp around, unsigned number, mlir::Block &body, mlir::ValueRange returned,
            llvm::ArrayRef<sym::Expr> symbols);
};

/// Gives a compute's copy in a stage its operands, read at `indices`, and the extents of its loops. Fails where an
/// index is no affine map of the loops.
mlir::LogicalResult setOperands(ComputeOp copy, mlir::ValueRange operands,
                                llvm::ArrayRef<llvm::SmallVector<sym::Expr>> indices,
                                llvm::ArrayRef<sym::Expr> extents);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_STAGEPROGRAM_H
