#ifndef FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H

#include "compiler/codegen/cpu/Emission.h"
#include "compiler/plan/TreeForm.h"

namespace freestone::codegen {

/// The state of a tree's emission at the current node: the range of every axis, and the memory of intermediates.
class TreeScope {
public:
  TreeScope(Emission &emission, const tile::TreeForm &form);

  /// The positions of an axis at the current node, as `index`.
  struct Range {
    mlir::Value first, count;
    /// Whether this is the first block of the axis; null where it is not in blocks, or they are dealt.
    mlir::Value isFirst;
  };

  Emission &emission;
  const tile::TreeForm &form;
  llvm::SmallVector<Range> ranges;

  /// Enters blocks of an axis, and leaves them: their range becomes the current one.
  void enter(unsigned axis, const Range &range);
  void leave(unsigned axis);
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
    Range free, depth;
  };
  PackedOperand &getPacked(const tile::TreeForm::Pack &pack) { return packed[&pack - form.packs.begin()]; }

private:
  mlir::Value getDistance(unsigned axis, unsigned blocks);

  llvm::SmallVector<mlir::Value> storages;
  llvm::SmallVector<PackedOperand> packed;
  /// Of each axis, the ranges around the current one, outermost first.
  llvm::SmallVector<llvm::SmallVector<Range>> outer;
};

/// Emits the copy of an operand that an evaluation reads along its rows, so that its vectors are contiguous.
void emitTransposedCopy(TreeScope &scope, const tile::TreeForm::Pack &pack);

/// Emits the computes of an evaluation over the current ranges.
void emitEvaluation(TreeScope &scope, tile::EvaluateAttr node);

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_TREESCOPE_H
