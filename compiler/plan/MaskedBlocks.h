#ifndef FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
#define FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H

#include "compiler/plan/IndexMaps.h"

namespace freestone::tile {

/// An argument of a program, of f32 or of truth values, as a compute reads it: contiguous along a loop.
struct LoopTensor {
  mlir::Value tensor;
  LinearIndex index; ///< over the compute's loops
  unsigned along;
};

/// Masks are -inf, or at most this: far below all scores, and far above the lowest number, of which scores are
/// subtracted.
inline constexpr double mostMasked = -1e30;

/// Beside a maximum above this one, exponentials of masked values are 0.
inline constexpr double leastMaximum = -1e29;

/// Where values are masked: replaced by, or added to, a number so low that exp(x - M) is 0 for the maximum M.
struct Mask {
  /// An operand that is such a number, or a truth value, where a value is masked.
  struct Operand : LoopTensor {
    bool hidden;     ///< the truth value
    bool isInfinite; ///< the number that a truth value stands for
  };

  bool isEmpty() const { return regions.empty() && operands.empty(); }

  /// Values are masked wherever one of these, which are linear in the compute's loops, is positive (causal masks,
  /// windows); ...
  llvm::SmallVector<sym::Expr> regions;
  /// ... and where one of these says so, beside an M above `leastMaximum` or by -inf: only a run tells where.
  llvm::SmallVector<Operand> operands;
  /// The loop of a row's values.
  unsigned column = 0;
  /// M, where it is known; beside -inf it has to be above `leastMaximum` too.
  std::optional<LoopTensor> maximum;
};

/// Where the values of which a maximum is taken are masked. By regions only if every maximum has a value that is not
/// masked so, or is -inf.
Mask getMask(ComputeOp maximum);

/// Where exp(x - M), or a product of it, is 0 since x is masked by -inf. M, one number for all columns of a row, is
/// taken to be at least every x that is not masked: by regions only if each row has such a one.
Mask getVanishingMask(ComputeOp map);

/// Whether a result, or all that is added up to it, is 0 where elements of `tensors` are. Other elements are numbers.
bool vanishes(ComputeOp compute, unsigned result, const llvm::SmallPtrSetImpl<mlir::Value> &tensors);

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MASKEDBLOCKS_H
