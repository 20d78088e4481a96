#ifndef FREESTONE_COMPILER_TASK_KNOWNPHASES_H
#define FREESTONE_COMPILER_TASK_KNOWNPHASES_H

#include "compiler/dialect/task/TaskDialect.h"
#include "llvm/ADT/BitVector.h"
#include <functional>

namespace freestone::task {

/// The phases that are done wherever a worker is, on a walk through a program in the order of the text. All workers
/// execute all waits. Where the tiles of a phase are done, so are the phases that it waited for, and earlier ones whose
/// tiles belong to the same workers.
class KnownPhases {
public:
  /// `areDealtAlike` tells whether tile t of two spaces belongs to the same worker.
  KnownPhases(ProgramOp program, std::function<bool(SpaceOp, SpaceOp)> areDealtAlike);

  bool isKnown(int64_t phase) const { return known.test(phase); }
  const llvm::BitVector &get() const { return known; }
  /// All workers wait, before `op`, until all of them have finished an earlier phase.
  void awaitAll(int64_t phase) { known.set(0, phase + 1); }
  /// All workers wait, before `op`, until the tiles of an earlier phase are done.
  void awaitTiles(mlir::Operation *op, int64_t phase);
  /// All workers meet before the next phase.
  void meet() { known.set(0, phases.size()); }
  /// The next phase begins here; returns its number.
  int64_t enter(PhaseOp phase);
  /// The number of the next phase.
  int64_t getNext() const { return phases.size(); }
  /// By phases of a program with edges and deals: the phases that are known where they begin.
  static llvm::SmallVector<llvm::BitVector> getAtPhases(ProgramOp program);
  /// Goes back to what was known before a side of a branch: its other side, and what is behind it, know no more.
  void forget(llvm::BitVector before) { known = std::move(before); }

private:
  bool isWithin(int64_t phase, int64_t other) const;

  std::function<bool(SpaceOp, SpaceOp)> areDealtAlike;
  llvm::BitVector known;
  llvm::SmallVector<PhaseOp> phases;
  /// By phases: those that are known where its tiles begin.
  llvm::SmallVector<llvm::BitVector> knownAt;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_KNOWNPHASES_H
