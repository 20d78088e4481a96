#ifndef FREESTONE_COMPILER_TASK_AWAITEDWORKERS_H
#define FREESTONE_COMPILER_TASK_AWAITEDWORKERS_H

#include "compiler/dialect/task/TaskDialect.h"
#include "runtime/sizes/Windows.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace freestone::task {

/// Tiles [firsts[w], firsts[w + 1]) of a space belong to worker w.
class Dealing {
public:
  using Valuation = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;

  /// As evenly as numbers of tiles allow.
  static Dealing evenly(ProgramOp program, int64_t workers, Valuation valueOf);
  /// With cuts that `random` chooses among the numbers up to the given one.
  static Dealing randomly(ProgramOp program, int64_t workers, Valuation valueOf,
                          llvm::function_ref<int64_t(int64_t)> random);

  llvm::ArrayRef<int64_t> of(SpaceOp space) const { return firsts.find(space)->second; }
  int64_t getNumWorkers() const { return workers; }

private:
  using Cut = llvm::function_ref<llvm::SmallVector<int64_t>(int64_t tiles)>;
  static Dealing deal(ProgramOp program, int64_t workers, Valuation valueOf, Cut cut);

  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> firsts;
  int64_t workers = 1;
};

/// For whom workers wait at the windows of a program, at given sizes, deals and offsets of arena buffers: as in a run.
class AwaitedWorkers {
public:
  /// `claims`: in a run that lets workers claim tiles.
  AwaitedWorkers(ProgramOp program, const Dealing &dealing, llvm::ArrayRef<int64_t> offsets, Dealing::Valuation valueOf,
                 bool claims = false);

  /// By phases: those that wait for all workers, since memory is taken again.
  const llvm::BitVector &getWide() const { return wide; }
  int64_t getNumWorkers() const { return workers; }
  bool hasWindows() const { return !ranges.empty(); }
  /// The workers that a worker waits for in a phase at its window of an earlier one; of ~p: of the iteration before.
  runtime::WorkerRange getRange(int64_t phase, int64_t worker, int64_t awaited) const {
    return ranges.find({phase, awaited})->second[worker];
  }

private:
  void findWide(ProgramOp program, llvm::ArrayRef<int64_t> offsets, Dealing::Valuation valueOf);

  int64_t workers;
  llvm::BitVector wide;
  /// By phases and awaited ones: of each worker.
  llvm::DenseMap<std::pair<int64_t, int64_t>, llvm::SmallVector<runtime::WorkerRange>> ranges;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_AWAITEDWORKERS_H
