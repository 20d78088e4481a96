#ifndef FREESTONE_COMPILER_GRAD_REMATERIALISE_H
#define FREESTONE_COMPILER_GRAD_REMATERIALISE_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <limits>
#include <optional>

namespace freestone::grad {

/// Which values of the forward pass the backward pass computes again instead of finding them kept.
struct RecomputePolicy {
  enum class Kind { None, Blocks, Auto };
  Kind kind = Kind::None;
  /// Of `Auto`: as much is computed again as is needed to keep no more than this, the cheapest first.
  int64_t bytes = 0;

  /// "none", "blocks", "auto:BYTES" with an optional K, M or G; nothing for other texts.
  static std::optional<RecomputePolicy> parse(llvm::StringRef text);
};

/// What was decided, at the hints.
struct Recomputed {
  int64_t values = 0;                    ///< operators that stand in the backward pass once more
  int64_t keptBefore = 0, keptAfter = 0; ///< bytes that are kept for the backward pass
};

/// Computes values of the forward pass again in the backward pass, where that keeps less in memory. Forward is what the
/// results in `losses` follow from; backward what comes after it. Products (contractions, convolutions), sorting and
/// control flow are never computed again; of all else, what is cheapest to keep is kept (see KeepProblem). What is
/// computed again reads what was kept through `graph.barrier`, so that it is neither shared with the first computation
/// nor hoisted to it. `hints` says how large symbols usually are. Dropout computes the same mask again, from its key.
Recomputed rematerialise(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> losses, const RecomputePolicy &policy,
                         const llvm::StringMap<int64_t> &hints);

/// Marks a function for `graph-rematerialise`:
/// `graph.recompute = {policy = "blocks", losses = array<i64: 0>, hints = {b = 64}}`.
void requestRecompute(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> losses, llvm::StringRef policy,
                      const llvm::StringMap<int64_t> &hints);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_REMATERIALISE_H
