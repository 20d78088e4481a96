#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H

#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/TreeForm.h"

namespace freestone::codegen {

/// The state of a tree's emission at the current node: the range of every axis, and the memory of intermediates.
class TreeScope : public AxisRanges {
public:
  TreeScope(Emission &emission, const tile::TreeForm &form);

  Emission &emission;
  const tile::TreeForm &form;

  /// The symbol of a position along an axis.
  sym::Expr getSymbol(unsigned axis);
  /// The positions of a compute's loops, over symbols of axes.
  llvm::SmallVector<sym::Expr> getLoops(tile::ComputeOp compute);
  /// The memory of an intermediate.
  mlir::Value getMemory(const tile::TreeForm::Buffer &buffer) { return storages[buffer.storage]; }
  mlir::Value getCorrection(mlir::Value maximum) { return storages[form.corrections.find(maximum)->second]; }
  /// The place of an element in an intermediate's memory; column and row count from the beginning of the current
  /// ranges.
  mlir::Value getPlace(const tile::TreeForm::Buffer &buffer, mlir::Value column, mlir::Value row);

  /// The memory of a packed operand; the copy at hand begins at element `start`, with the ranges `free` of the pack's
  /// axis and `depth` of the reduced axis.
  struct PackedOperand {
    mlir::Value memory, start;
    AxisRange free, depth;
  };
  PackedOperand &getPacked(const tile::TreeForm::Pack &pack) { return packed[&pack - form.packs.begin()]; }

private:
  mlir::Value getDistance(unsigned axis, unsigned blocks);

  llvm::SmallVector<mlir::Value> storages;
  llvm::SmallVector<PackedOperand> packed;
};

/// Emits the copy of an operand that an evaluation reads along its rows, so that its vectors are contiguous.
void emitTransposedCopy(TreeScope &scope, const tile::TreeForm::Pack &pack);

/// Whether some value of a compute in the current ranges is not masked, or they are the first block along which a
/// maximum is taken.
mlir::Value emitIsSeen(TreeScope &scope, tile::ComputeOp masked);

/// Some vectors of an axis: the first position, counted from the beginning of its range, their number, and the mask of
/// a last one.
struct RangeVectors {
  mlir::Value first;
  unsigned count = 0;
  mlir::Value mask;
};

/// Emits the computes of an evaluation in some vectors, over the current range of the other axis.
void emitEvaluation(TreeScope &scope, tile::EvaluateAttr node, const RangeVectors &at);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H
