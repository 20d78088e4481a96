#ifndef FREESTONE_COMPILER_PLAN_OUTERLOOPFORM_H
#define FREESTONE_COMPILER_PLAN_OUTERLOOPFORM_H

#include "compiler/plan/StageProgram.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::tile {

/// Computes that share an outer parallel loop, such as one over channels: each reads of the others' results only what
/// belongs to the same point of that loop, so that a block of its points goes through all stages while it is in a cache.
/// Stages are the programs that computes would be apart; `tile.stage` of a compute has its number and its outer loop.
struct OuterLoopForm {
  /// In their order.
  llvm::SmallVector<llvm::SmallVector<ComputeOp>> stages;
  /// The outer loop of each compute, which is the dimension of its results as well, and its extent.
  llvm::DenseMap<mlir::Operation *, unsigned> loops;
  sym::Expr extent;
  /// What other stages read; of these, what lies in scratch, since the program does not return it.
  llvm::SetVector<mlir::Value> between, inScratch;

  /// Fails, with a reason in `why`, where computes have no such stages.
  static mlir::FailureOr<OuterLoopForm> get(llvm::ArrayRef<ComputeOp> computes, llvm::ArrayRef<mlir::Value> returned,
                                            std::string &why);
  static mlir::FailureOr<OuterLoopForm> get(ProgramOp program, std::string &why);

  /// The stages that make a result, and that read it last.
  std::pair<unsigned, unsigned> getLiveRange(mlir::Value result) const;
  /// The elements of a result at one point of the outer loop.
  sym::Expr getElementsOfPoint(mlir::Value result) const;
};

/// The dimension of a reshaped tensor that goes over the same elements as dimension `dim` of what has been reshaped;
/// nothing where there is none.
std::optional<unsigned> getReshapedDim(mlir::Value reshaped, unsigned dim);

/// The dimension of an operand whose index is the given loop alone, where no other index depends on this, and the loop
/// of such a dimension; else nothing.
std::optional<unsigned> getDimOfLoop(ComputeOp compute, unsigned input, unsigned loop);
std::optional<unsigned> getLoopOfDim(ComputeOp compute, unsigned input, unsigned dim);

/// Whether a loop of a compute is parallel, and blocks of its points can be computed apart: the body does not ask for its
/// position, nor checks or reads at data, and no operand or result has a layout.
bool mayBeCut(ComputeOp compute, unsigned loop);

/// Whether the computes of a group or program are stages under an outer loop.
bool shareOuterLoop(llvm::ArrayRef<ComputeOp> computes);

/// Further symbols of the programs of stages: the number of points, and the first of them.
struct OuterLoopSymbols {
  sym::Expr extent, first;
  static OuterLoopSymbols get(mlir::MLIRContext *context);
  std::array<sym::Expr, 2> getAll() const { return {extent, first}; }
};

/// The programs of all stages, without plans: over the operands of `program` and results in its own, of which a block is
/// a box, and over blocks in scratch. Fails with a diagnostic.
mlir::FailureOr<llvm::SmallVector<StageProgram>> makeStages(const OuterLoopForm &form, ProgramOp program);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_OUTERLOOPFORM_H
