#ifndef FREESTONE_COMPILER_PLAN_RUNNINGREDUCTIONS_H
#define FREESTONE_COMPILER_PLAN_RUNNINGREDUCTIONS_H

#include "compiler/plan/Axes.h"

namespace freestone::tile {

/// Reductions of an axis that is reduced block by block, and what depends on them within a block. A maximum M that
/// grows from block to block is replaced within exp(x - M): whatever is proportional to that factor is corrected by
/// exp(M before - M now). (Milakov and Gimelshein, "Online normalizer calculation for softmax".)
class RunningReductions {
public:
  /// `computes` are those within the loop over blocks of `axis`, in order. Fails, with a reason in `why`, if one
  /// depends in another way on a reduction that is not complete.
  static mlir::FailureOr<RunningReductions> get(llvm::ArrayRef<ComputeOp> computes, const Axes &axes, unsigned axis,
                                                std::string &why);

  /// The running maximum whose factor a value has; null for others.
  mlir::Value getMaximum(mlir::Value value) const { return maximumOf.lookup(value); }
  /// Whether other values have the factor of this one.
  bool isCorrected(mlir::Value value) const {
    return llvm::any_of(maximumOf, [&](const auto &each) { return each.second == value; });
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> maximumOf;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_RUNNINGREDUCTIONS_H
