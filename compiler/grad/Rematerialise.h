#ifndef FREESTONE_COMPILER_GRAD_REMATERIALISE_H
#define FREESTONE_COMPILER_GRAD_REMATERIALISE_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <limits>
#include <optional>

namespace freestone::grad {

/// The choice of values of the forward pass to recompute in the backward pass instead of keeping them.
struct RecomputePolicy {
  /// `Blocks` recomputes all that may be; `Priced` what is worth its time: a hundredth of a step's time has to save four
  /// hundredths of the bytes that would be kept.
  enum class Kind { None, Blocks, Priced, Bounded };
  Kind kind = Kind::None;
  /// For `Bounded`: recomputes as much as is needed to keep at most these bytes, the cheapest values first, and in the
  /// end products that make more than they read.
  int64_t bytes = 0;

  /// "none", "blocks", "auto" (priced), "auto:BYTES" with an optional K, M or G; nothing for other texts.
  static std::optional<RecomputePolicy> parse(llvm::StringRef text);
};

/// The decisions, in numbers at the hinted sizes.
struct Recomputed {
  int64_t values = 0;                    ///< operators that stand in the backward pass once more
  int64_t keptBefore = 0, keptAfter = 0; ///< bytes that are kept for the backward pass
};

/// Recomputes values of the forward pass in the backward pass, where this reduces memory. The forward pass is
/// everything that the results in `losses` depend on; the backward pass everything after it. Products (contractions,
/// convolutions) are recomputed for bounded bytes alone, where they make more than they read; sorting, control flow,
/// queries, keys and values never; of all else, the cheapest set is kept (see KeepProblem). Bounded bytes do not count
/// what lies between the products of an attention, which is taken to be connected later. Recomputation reads kept values
/// through `graph.barrier`, so that it is neither merged with the first computation nor hoisted to it. `hints` are
/// typical values of symbols. Dropout recomputes the same mask from its key.
Recomputed rematerialise(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> losses, const RecomputePolicy &policy,
                         const llvm::StringMap<int64_t> &hints);

/// Marks a function for `graph-rematerialise`:
/// `graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64}}`.
void requestRecompute(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> losses, llvm::StringRef policy,
                      const llvm::StringMap<int64_t> &hints);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_REMATERIALISE_H
